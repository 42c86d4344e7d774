// From a path to what is done there: named, decided, asked of the worker, and decided again wherever a link leads.
import { isPlainText } from "../../core/authority/patterns/reserved.ts";
import type { FilePath, FileRefusal, FileResult } from "../../core/ports/files.ts";
import type { FileJudge, FileVerb } from "./file-judge.ts";
import { isAtOrBelow, type Place, type Placed, placeNamed, placeReal } from "./places.ts";
import {
  LINK_OUTSIDE,
  NO_TREE,
  NOT_NORMAL,
  PINNED,
  refused,
  refusedBy,
  severalHardLinks,
  WORKER_GONE,
} from "./refusals.ts";
import { type Answer, pathBytesMax, type RequestBytes, readAnswer } from "./wire.ts";

import type { FileWorkers } from "./worker.ts";

/** How often a way may turn out to have a link in it, all of them decided. */
const linkRoundsMax = 8;

/** What was asked for, and where that is by now. */
export interface Located {
  readonly asked: FilePath;
  readonly placed: Placed;
  /** A link was followed: it has two names, and both are decided on. */
  readonly linked: boolean;
}

export interface Job<T> {
  readonly verb: FileVerb;
  readonly request: RequestBytes;
  /** Null for an answer that does not parse. */
  readonly value: (body: Buffer, at: Located) => T | null;
  /** For a read: the same, of a file with several hard links, where a tree is granted as a whole. */
  readonly whole?: RequestBytes;
}

export class FileReach {
  readonly #workers: FileWorkers;
  readonly #places: readonly Place[];
  readonly #judge: FileJudge;
  readonly #pinned: readonly FilePath[];

  constructor(workers: FileWorkers, places: readonly Place[], judge: FileJudge, pinned: readonly FilePath[]) {
    this.#workers = workers;
    this.#places = places;
    this.#judge = judge;
    this.#pinned = pinned;
  }

  run<T>(job: Job<T>, path: FilePath): Promise<FileResult<T>> {
    if (!isNormal(path)) return Promise.resolve(NOT_NORMAL);
    const placed = placeNamed(this.#places, path, job.verb !== "fs.read") ?? placeNamed(this.#places, path, false);
    if (placed === null) return Promise.resolve(NO_TREE);
    const denied = this.#judge.asNamed(job.verb, placed);
    if (denied !== null) return Promise.resolve(denied);
    return new Promise((resolve) => this.#attempt(job, { asked: path, placed, linked: false }, linkRoundsMax, resolve));
  }

  /** Where a walk has led: not decided on as a folder, because each thing in it is. A link found there is not followed. */
  at<T>(job: Job<T>, at: Located): Promise<FileResult<T>> {
    return new Promise((resolve) => this.#attempt(job, at, 0, resolve));
  }

  isReadable({ asked, placed, linked }: Located): boolean {
    if (!linked) return this.#judge.asNamed("fs.read", placed) === null;
    const named = placeNamed(this.#places, asked, false);
    if (named === null || this.#judge.asNamed("fs.read", named) !== null) return false;
    return this.#judge.asReal("fs.read", realPath(placed)) === null;
  }

  #attempt<T>(job: Job<T>, at: Located, rounds: number, resolve: (result: FileResult<T>) => void): void {
    const { placed, asked } = at;
    const path = placed.place.inside.length === 0 ? placed.rest : [...placed.place.inside, ...placed.rest];
    const isPinned = job.verb !== "fs.read" && (this.#isPinned(asked) || this.#isPinned(realPath(placed)));
    if (isPinned || isTooLong(path)) {
      resolve(isPinned ? PINNED : refused("not_available", "ENAMETOOLONG"));
      return;
    }
    this.#workers.ask(job.request({ tree: placed.place.tree, path }), (payload) => {
      const answer = payload === null ? null : readAnswer(payload);
      if (answer === null) resolve(this.#broken(payload));
      else this.#settle(job, at, rounds, answer, resolve);
    });
  }

  #settle<T>(job: Job<T>, at: Located, rounds: number, answer: Answer, resolve: (result: FileResult<T>) => void): void {
    switch (answer.status) {
      case "done": {
        const value = job.value(answer.body, at);
        resolve(value === null ? this.#broken(answer.body) : { ok: true, value });
        break;
      }
      case "refused": {
        const { verb, value, whole } = job;
        const isWhole = answer.errno === severalHardLinks && this.#judge.coversWhole(at.placed.place);
        if (whole !== undefined && isWhole) this.#attempt({ verb, value, request: whole }, at, rounds, resolve);
        else resolve(refusedBy(answer.errno, answer.why));
        break;
      }
      case "link": {
        const next = rounds === 0 || answer.real === null ? LINK_OUTSIDE : this.#follow(job.verb, answer.real);
        if ("ok" in next) resolve(next);
        else this.#attempt(job, { asked: at.asked, placed: next, linked: true }, rounds - 1, resolve);
      }
    }
  }

  #follow(verb: FileVerb, real: FilePath): Placed | FileRefusal {
    if (!isNormal(real)) return LINK_OUTSIDE;
    const denied = this.#judge.asReal(verb, real);
    if (denied !== null) return denied.code === "approval_required" ? denied : LINK_OUTSIDE;
    return placeReal(this.#places, real, verb !== "fs.read") ?? LINK_OUTSIDE;
  }

  #isPinned(path: FilePath): boolean {
    return this.#pinned.some((pinned) => isAtOrBelow(path, pinned));
  }

  /** An answer nobody understands is the last one that is listened to. */
  #broken(payload: Buffer | null): FileRefusal {
    if (payload !== null) this.#workers.breakOff();
    return WORKER_GONE;
  }
}

export function realPath({ place, rest }: Placed): FilePath {
  return [...place.real, ...rest];
}

/** Further down, by the same two names. */
export function below({ asked, placed, linked }: Located, names: FilePath): Located {
  return {
    asked: [...asked, ...names],
    placed: { place: placed.place, rest: [...placed.rest, ...names] },
    linked,
  };
}

function isNormal(path: FilePath): boolean {
  return path.every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("/") && isPlainText(name));
}

function isTooLong(path: FilePath): boolean {
  let bytes = path.length;
  for (const name of path) bytes += name.length;
  // Nothing that is short in characters is long in bytes, so most paths are never measured.
  return bytes * 3 > pathBytesMax && Buffer.byteLength(path.join("/")) > pathBytesMax;
}
