// Verifies an export line by line with a supplied key: nothing the file says about itself is relied on.
import type { VerifyReport } from "../../core/ports/daemon/daemon-control.ts";
import { ZERO_HASH } from "../chain/chain.ts";
import { type ExportHeader, readExportLine } from "./export.ts";
import { type ChainHead, Verifier, type VerifyPorts } from "./verify.ts";
import { Problems } from "./verify-problems.ts";

export interface ExportVerifyOptions {
  readonly key: string;
  readonly head: ChainHead | null;
}

const rotationsMax = 10_000;

export class ExportVerifier {
  readonly #ports: VerifyPorts;
  readonly #given: ExportVerifyOptions;
  readonly #problems = new Problems();
  readonly #rotations: string[] = [];
  #header: ExportHeader | null = null;
  #verifier: Verifier | null = null;
  #head: ChainHead | null = null;
  #lines = 0;
  #place = 0;

  constructor(ports: VerifyPorts, given: ExportVerifyOptions) {
    this.#ports = ports;
    this.#given = given;
  }

  line(text: string): void {
    this.#lines++;
    const wrong = this.#take(text);
    if (wrong !== null) this.#problems.tell(this.#place, `line ${this.#lines} ${wrong}`);
  }

  end(): VerifyReport {
    if (this.#header === null) this.#problems.tell(0, "this is not an export of a log: its first line is not a header");
    else if (this.#head === null && this.#header.isCopy !== true)
      this.#problems.tell(this.#place, "the file was truncated: its last line is missing");
    const answer = this.#begun()?.end(this.#head) ?? NOTHING;
    const problems = [...this.#problems.listed(), ...answer.problems];
    return { ...answer, isIntact: problems.length === 0, problems };
  }

  #take(text: string): string | null {
    const line = readExportLine(text);
    if (line === null) return "is not a valid line of an export";
    if (this.#head !== null) return "follows the end of the export";
    if (line.kind === "header") {
      if (this.#header !== null) return "is a second header";
      this.#header = line;
      return null;
    }
    if (line.kind === "rotation") {
      if (this.#header === null || this.#verifier !== null || this.#rotations.length >= rotationsMax)
        return "is a key rotation in the wrong place";
      this.#rotations.push(line.text);
      return null;
    }
    const verifier = this.#begun();
    if (verifier === null) return "precedes the header";
    if (line.kind === "head") this.#head = line;
    else this.#place = line.place;
    if (line.kind === "entry") verifier.row(line);
    if (line.kind === "checkpoint") verifier.checkpoint(line);
    return null;
  }

  #begun(): Verifier | null {
    if (this.#header === null) return null;
    const { node, first, isCopy = false } = this.#header;
    const given = { ...this.#given, node, first, isCopy, rotations: this.#rotations };
    this.#verifier ??= new Verifier(this.#ports, given);
    return this.#verifier;
  }
}

const NOTHING: VerifyReport = {
  isIntact: false,
  entries: 0,
  from: 0,
  head: { place: 0, hash: ZERO_HASH },
  checkpoints: 0,
  unsigned: 0,
  problems: [],
};
