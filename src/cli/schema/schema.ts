// `ambit schema [name]`: the JSON Schema an editor checks a file with, and the line that tells the editor to.

import { modeline, SCHEMA_NAMES, type SchemaName, schemaOf, schemaPath } from "../../agents/schema/schema.ts";
import { nearestName } from "../../core/notation/nearest.ts";
import { EXIT, type ExitCode } from "../terminal/exit.ts";
import type { Paint } from "../terminal/paint.ts";
import { fail } from "../terminal/problems.ts";

export interface SchemaPorts {
  readonly paint: Paint;
  print(text: string): void;
  printError(text: string): void;
}

/** The schema alone goes to the output, so that it can be sent to a file; what to do with it is said beside. */
export function schema(ports: SchemaPorts, name: string | undefined, options: { readonly json: boolean }): ExitCode {
  if (name === undefined) {
    const rows = SCHEMA_NAMES.map((one) => ({
      name: one,
      file: FILES[one],
      path: schemaPath(one),
      modeline: lineOf(one),
    }));
    if (options.json) ports.print(JSON.stringify({ schemas: rows }));
    else ports.print(rows.map((row) => overview(row, ports.paint)).join("\n"));
    return EXIT.ok;
  }
  const known = SCHEMA_NAMES.find((one) => one === name);
  if (known === undefined) {
    const meant = nearestName(name, SCHEMA_NAMES);
    const fix = meant === null ? SCHEMA_NAMES.join(", ") : `ambit schema ${meant}`;
    return fail(ports, options, EXIT.usage, `no schema called ${JSON.stringify(name.slice(0, 80))}`, fix);
  }
  const text = schemaOf(known);
  if (options.json)
    ports.print(JSON.stringify({ name: known, path: schemaPath(known), modeline: lineOf(known), schema: text }));
  else {
    ports.print(JSON.stringify(text, null, 2));
    ports.printError(
      ports.paint.dim(`first line of ${FILES[known]}, with this in ${schemaPath(known)}:\n${lineOf(known)}`),
    );
  }
  return EXIT.ok;
}

const FILES: Readonly<Record<SchemaName, string>> = {
  record: "the frontmatter of .ambit/agents/<id>.md",
  config: ".ambit/config.yml",
  "user-config": "config.yml in the user's configuration folder",
  mcp: ".ambit/mcp.yml",
  "user-mcp": "mcp.yml in the user's configuration folder",
};

/** Seen from the file it stands in. */
function lineOf(name: SchemaName): string {
  switch (name) {
    case "record":
      return modeline("../schema/record.json");
    case "config":
    case "user-config":
    case "mcp":
    case "user-mcp":
      return modeline(`schema/${name}.json`);
    default:
      return name satisfies never;
  }
}

interface Row {
  readonly name: SchemaName;
  readonly file: string;
  readonly path: string;
  readonly modeline: string;
}

function overview({ name, file, path, modeline: line }: Row, paint: Paint): string {
  return [`${paint.strong(name)}  ${file}`, `  ambit schema ${name} > ${path}`, paint.dim(`  ${line}`)].join("\n");
}
