// Encodes requests to the lander as frames. `native/PROTOCOL.md` is the contract.
import { frameOf, framePayloadBytesMax, PayloadWriter } from "../start/frame.ts";
import type { Change, FileKind } from "./change.ts";

/** One change to land: a name, the kind of change, and what the scan saw there. */
export interface LandStep {
  readonly kind: Change["kind"];
  readonly path: readonly string[];
  readonly base: FileKind | null;
}

export type DraftSide = "draft" | "root" | "bin";

export interface ReadRequest {
  readonly side: DraftSide;
  /** Of an original in `bin`: one name, `<landing>-<step>`. */
  readonly path: readonly string[];
  readonly offset: number;
  readonly bytesMax: number;
}

/** Encodes text as bytes, for which a pure module has no function. */
export type Encode = (text: string) => Uint8Array;

export const landStepsMax = 262_144;
export const landPathBytesMax = 4095;
/** Number, status and size: the overhead of an answer to a read. */
export const draftReadBytesMax: number = framePayloadBytesMax - 13;

const STEP_KINDS: readonly Change["kind"][] = ["file", "folder", "link", "delete"];
export const FILE_KINDS: readonly FileKind[] = ["file", "folder", "link", "other"];
const SIDES: readonly DraftSide[] = ["draft", "root", "bin"];
const NO_BASE = 0xff;

export function stepOf({ kind, path, base }: Change): LandStep {
  return { kind, path, base: base === null ? null : base.kind };
}

export function folderFrame(which: "root" | "drafts", path: Uint8Array): Uint8Array {
  return frameOf(
    "T",
    new PayloadWriter()
      .u8(which === "root" ? 0 : 1)
      .text(path)
      .done(),
  );
}

export function scanFrame(number: number, draft: string, encode: Encode): Uint8Array {
  return frameOf("s", new PayloadWriter().u32(number).text(encode(draft)).done());
}

export function recoverFrame(number: number, draft: string, encode: Encode): Uint8Array {
  return frameOf("v", new PayloadWriter().u32(number).text(encode(draft)).done());
}

export function flushFrame(number: number, draft: string, encode: Encode): Uint8Array {
  return frameOf("f", new PayloadWriter().u32(number).text(encode(draft)).done());
}

export function undoFrame(number: number, draft: string, landing: number, encode: Encode): Uint8Array {
  return frameOf("u", new PayloadWriter().u32(number).text(encode(draft)).u32(landing).done());
}

export function readFrame(number: number, draft: string, request: ReadRequest, encode: Encode): Uint8Array {
  const payload = new PayloadWriter().u32(number).text(encode(draft)).u8(SIDES.indexOf(request.side));
  payload
    .text(encode(request.path.join("/")))
    .u64(BigInt(request.offset))
    .u32(request.bytesMax);
  return frameOf("r", payload.done());
}

/** The steps in as many frames as needed, then the request itself. */
export function landFrames(
  number: number,
  draft: string,
  steps: readonly LandStep[],
  startNanoseconds: bigint,
  encode: Encode,
): readonly Uint8Array[] {
  const frames: Uint8Array[] = [];
  let payload = new PayloadWriter();
  let bytes = 0;
  for (const { kind, path, base } of steps) {
    const text = encode(path.join("/"));
    if (bytes + text.length + 3 > framePayloadBytesMax) {
      frames.push(frameOf("p", payload.done()));
      payload = new PayloadWriter();
      bytes = 0;
    }
    payload
      .u8(STEP_KINDS.indexOf(kind))
      .u8(base === null ? NO_BASE : FILE_KINDS.indexOf(base))
      .text(text);
    bytes += text.length + 3;
  }
  if (bytes > 0) frames.push(frameOf("p", payload.done()));
  const request = new PayloadWriter().u32(number).text(encode(draft)).u64(startNanoseconds);
  return [...frames, frameOf("l", request.done())];
}

/** Names the lander accepts: not empty, `.` or `..`, and without slashes and zero bytes. */
export function isLandPath(path: readonly string[], encode: Encode): boolean {
  if (path.length === 0 || path.some((name) => name === "" || name === "." || name === ".." || /[/\0]/.test(name))) {
    return false;
  }
  return encode(path.join("/")).length <= landPathBytesMax;
}

export function isDraftId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
}
