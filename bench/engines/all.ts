// Every engine by its name in the report, ours first.
import { ambit, ambitFromText } from "./ambit.ts";
import { casbin } from "./casbin.ts";
import { casl } from "./casl.ts";
import { cedar } from "./cedar.ts";
import type { BuildEngine } from "./engine.ts";
import { minimatchLoop, picomatchLoop } from "./globs.ts";
import { stringLoop } from "./strings.ts";

export const OURS = "ambit";
export const PLAIN_LOOP = "string loop";

export const engines: Readonly<Record<string, BuildEngine>> = {
  [OURS]: ambit,
  "ambit (from text)": ambitFromText,
  [PLAIN_LOOP]: stringLoop,
  "picomatch loop": picomatchLoop,
  "minimatch loop": minimatchLoop,
  "casl": casl,
  "casbin": casbin,
  "cedar-wasm": cedar,
};

/** Every engine but our own. */
export const peers: readonly string[] = Object.keys(engines).filter((name) => !name.startsWith(OURS));
