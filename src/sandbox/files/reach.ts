// From a path to an operation on it: named, decided, requested from the worker, and decided again where a link leads.
import { isPlainText } from "../../core/authority/patterns/reserved.ts";
import type { FilePath, FileRefusal, FileResult } from "../../core/ports/files.ts";
import type { FileJudge, FileVerb } from "./file-judge.ts";
import { isAtOrBelow, type OpenTree, positionByName, positionByRealPath, type TreePosition } from "./open-trees.ts";
import {
  fileRefusal,
  LINK_OUTSIDE,
  NO_TREE,
  NOT_NORMAL,
  PINNED,
  refusedBy,
  severalHardLinks,
  WORKER_GONE,
} from "./refusals.ts";
import { type Answer, pathBytesMax, type RequestBytes, readAnswer } from "./wire.ts";
import type { FileWorkers } from "./worker.ts";

/** How many links may be found on a path, each of them decided. */
const linkRoundsMax = 8;

/** The requested path, and its current position. */
export interface FileLocation {
  readonly named: FilePath;
  readonly position: TreePosition;
  /** A link was followed: the file has two names, and both are decided on. */
  readonly linked: boolean;
}

export interface FileOperation<T> {
  readonly verb: FileVerb;
  readonly request: RequestBytes;
  /** Null for an answer that does not parse. */
  readonly value: (body: Buffer, at: FileLocation) => T | null;
  /** For a read: the same request for a file with several hard links, where its whole tree is granted. */
  readonly whole?: RequestBytes;
}

export class FileReach {
  readonly #workers: FileWorkers;
  readonly #trees: readonly OpenTree[];
  readonly #judge: FileJudge;
  readonly #pinned: readonly FilePath[];

  constructor(workers: FileWorkers, trees: readonly OpenTree[], judge: FileJudge, pinned: readonly FilePath[]) {
    this.#workers = workers;
    this.#trees = trees;
    this.#judge = judge;
    this.#pinned = pinned;
  }

  run<T>(job: FileOperation<T>, path: FilePath): Promise<FileResult<T>> {
    if (!isNormal(path)) return Promise.resolve(NOT_NORMAL);
    const position =
      positionByName(this.#trees, path, job.verb !== "fs.read") ?? positionByName(this.#trees, path, false);
    if (position === null) return Promise.resolve(NO_TREE);
    const denied = this.#judge.asNamed(job.verb, position);
    if (denied !== null) return Promise.resolve(denied);
    return new Promise((resolve) =>
      this.#attempt(job, { named: path, position, linked: false }, linkRoundsMax, resolve),
    );
  }

  /**
   * A folder found by a walk: not decided on itself, because each entry in it is. A link found there is not followed.
   */
  at<T>(job: FileOperation<T>, at: FileLocation): Promise<FileResult<T>> {
    return new Promise((resolve) => this.#attempt(job, at, 0, resolve));
  }

  isReadable({ named, position, linked }: FileLocation): boolean {
    if (!linked) return this.#judge.asNamed("fs.read", position) === null;
    const byName = positionByName(this.#trees, named, false);
    if (byName === null || this.#judge.asNamed("fs.read", byName) !== null) return false;
    return this.#judge.asReal("fs.read", realPath(position)) === null;
  }

  #attempt<T>(job: FileOperation<T>, at: FileLocation, rounds: number, resolve: (result: FileResult<T>) => void): void {
    const { position, named } = at;
    const path = position.tree.inside.length === 0 ? position.rest : [...position.tree.inside, ...position.rest];
    const isPinned = job.verb !== "fs.read" && (this.#isPinned(named) || this.#isPinned(realPath(position)));
    if (isPinned || isTooLong(path)) {
      resolve(isPinned ? PINNED : fileRefusal("not_available", "ENAMETOOLONG"));
      return;
    }
    this.#workers.ask(job.request({ tree: position.tree.tree, path }), (payload) => {
      const answer = payload === null ? null : readAnswer(payload);
      if (answer === null) resolve(this.#broken(payload));
      else this.#settle(job, at, rounds, answer, resolve);
    });
  }

  #settle<T>(
    job: FileOperation<T>,
    at: FileLocation,
    rounds: number,
    answer: Answer,
    resolve: (result: FileResult<T>) => void,
  ): void {
    switch (answer.status) {
      case "done": {
        const value = job.value(answer.body, at);
        resolve(value === null ? this.#broken(answer.body) : { ok: true, value });
        break;
      }
      case "refused": {
        const { verb, value, whole } = job;
        const isWhole = answer.errno === severalHardLinks && this.#judge.coversWhole(at.position.tree);
        if (whole !== undefined && isWhole) this.#attempt({ verb, value, request: whole }, at, rounds, resolve);
        else resolve(refusedBy(answer.errno, answer.why));
        break;
      }
      case "link": {
        const next = rounds === 0 || answer.real === null ? LINK_OUTSIDE : this.#follow(job.verb, answer.real);
        if ("ok" in next) resolve(next);
        else this.#attempt(job, { named: at.named, position: next, linked: true }, rounds - 1, resolve);
      }
    }
  }

  #follow(verb: FileVerb, real: FilePath): TreePosition | FileRefusal {
    if (!isNormal(real)) return LINK_OUTSIDE;
    const denied = this.#judge.asReal(verb, real);
    if (denied !== null) return denied.code === "approval_required" ? denied : LINK_OUTSIDE;
    return positionByRealPath(this.#trees, real, verb !== "fs.read") ?? LINK_OUTSIDE;
  }

  #isPinned(path: FilePath): boolean {
    return this.#pinned.some((pinned) => isAtOrBelow(path, pinned));
  }

  /** An answer that does not parse ends the worker. */
  #broken(payload: Buffer | null): FileRefusal {
    if (payload !== null) this.#workers.breakOff();
    return WORKER_GONE;
  }
}

export function realPath({ tree, rest }: TreePosition): FilePath {
  return [...tree.real, ...rest];
}

/** A path below, under both names. */
export function below({ named, position, linked }: FileLocation, names: FilePath): FileLocation {
  return {
    named: [...named, ...names],
    position: { tree: position.tree, rest: [...position.rest, ...names] },
    linked,
  };
}

function isNormal(path: FilePath): boolean {
  return path.every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("/") && isPlainText(name));
}

function isTooLong(path: FilePath): boolean {
  let bytes = path.length;
  for (const name of path) bytes += name.length;
  // A path that is short in characters is short in bytes, so most paths are never measured.
  return bytes * 3 > pathBytesMax && Buffer.byteLength(path.join("/")) > pathBytesMax;
}
