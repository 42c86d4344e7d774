// The language server for records and configurations: diagnostics with our codes, hover, completion and quick fixes.
import {
  type CodeAction,
  CompletionItemKind,
  type Connection,
  DiagnosticSeverity,
  type Diagnostic as EditorDiagnostic,
  TextDocumentSyncKind,
} from "vscode-languageserver/node.js";
import { VERSION } from "../core/base/version.ts";
import type { Diagnostic, Severity } from "../core/notation/diagnostic.ts";
import type { Range, Source } from "../core/notation/source.ts";
import { completionsAt, explanationAt, quickFix } from "./record-help.ts";

/** What is wrong with a text that lies at a path; null for a file that is none of ours. */
export type FileReader = (path: string, text: string) => readonly Diagnostic[] | null;

/** Larger texts than an agent's record can be are left alone. */
const charactersMax = 1_048_576;

const SEVERITIES: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
};

/** Answers an editor until it closes the connection. */
export function serveEditor(connection: Connection, read: FileReader): void {
  const documents = new Map<string, Source>();
  const found = (uri: string): readonly Diagnostic[] => {
    const source = documents.get(uri);
    const path = source === undefined ? null : pathOf(uri);
    return source === undefined || path === null ? [] : (read(path, source.text) ?? []);
  };
  const show = (uri: string): void => {
    const source = documents.get(uri);
    const diagnostics = source === undefined ? [] : found(uri).map((one) => shown(source, one));
    void connection.sendDiagnostics({ uri, diagnostics });
  };
  const keep = (uri: string, text: string): void => {
    const path = pathOf(uri);
    if (path === null || text.length > charactersMax || read(path, "") === null) documents.delete(uri);
    else documents.set(uri, { name: path, text });
    show(uri);
  };

  connection.onInitialize(() => ({
    serverInfo: { name: "ambit", version: VERSION },
    capabilities: {
      textDocumentSync: TextDocumentSyncKind.Full,
      hoverProvider: true,
      completionProvider: { triggerCharacters: ["{", ",", "-", " ", "."] },
      codeActionProvider: true,
    },
  }));
  connection.onDidOpenTextDocument(({ textDocument: { uri, text } }) => keep(uri, text));
  connection.onDidChangeTextDocument(({ textDocument: { uri }, contentChanges }) => {
    const last = contentChanges.at(-1);
    if (last !== undefined) keep(uri, last.text);
  });
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
    documents.delete(uri);
    show(uri);
  });
  connection.onHover(({ textDocument: { uri }, position }) => {
    const source = documents.get(uri);
    const about = source === undefined ? null : explanationAt(source, offsetOf(source.text, position));
    if (source === undefined || about === null) return null;
    return { contents: { kind: "markdown", value: about.text }, range: rangeOf(source.text, about) };
  });
  connection.onCompletion(({ textDocument: { uri }, position }) => {
    const source = documents.get(uri);
    if (source === undefined) return [];
    return completionsAt(source, offsetOf(source.text, position)).map(({ label, detail, kind }) => ({
      label,
      detail,
      kind: kind === "verb" ? CompletionItemKind.Function : CompletionItemKind.Property,
    }));
  });
  connection.onCodeAction(({ textDocument: { uri }, range }) => {
    const source = documents.get(uri);
    const path = pathOf(uri);
    if (source === undefined || path === null) return [];
    const [start, end] = [offsetOf(source.text, range.start), offsetOf(source.text, range.end)];
    return found(uri).flatMap((diagnostic): CodeAction[] => {
      if (diagnostic.span.start > end || diagnostic.span.end < start) return [];
      const edit = quickFix(source, diagnostic, (text) => read(path, text) ?? []);
      if (edit === null) return [];
      return [
        {
          title: `Write ${JSON.stringify(edit.text)}`,
          kind: "quickfix",
          diagnostics: [shown(source, diagnostic)],
          edit: { changes: { [uri]: [{ range: rangeOf(source.text, edit), newText: edit.text }] } },
        },
      ];
    });
  });
  connection.listen();
}

function shown({ text }: Source, { severity, code, message, span, fix }: Diagnostic): EditorDiagnostic {
  return {
    range: rangeOf(text, span),
    severity: SEVERITIES[severity],
    code,
    source: "ambit",
    message: fix === null ? message : `${message}\nfix: ${fix}`,
  };
}

/** Null for what is no file on this machine. */
function pathOf(uri: string): string | null {
  try {
    const { protocol, pathname } = new URL(uri);
    const path = decodeURIComponent(pathname);
    return protocol === "file:" && !path.includes("\0") ? path : null;
  } catch {
    return null;
  }
}

interface Position {
  readonly line: number;
  readonly character: number;
}

/** Lines and UTF-16 units from 0, as editors count. */
function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const line = before.split("\n").length - 1;
  return { line, character: offset - (before.lastIndexOf("\n") + 1) };
}

function rangeOf(text: string, { start, end }: Range): { readonly start: Position; readonly end: Position } {
  return { start: positionOf(text, start), end: positionOf(text, Math.max(start, end)) };
}

function offsetOf(text: string, { line, character }: Position): number {
  let start = 0;
  for (let at = 0; at < line; at++) {
    const next = text.indexOf("\n", start);
    if (next < 0) return text.length;
    start = next + 1;
  }
  const end = text.indexOf("\n", start);
  return Math.min(start + character, end < 0 ? text.length : end);
}
