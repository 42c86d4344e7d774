// All skills: the user's own, those shared between clients, the project's, and records of class skill.
import type { Reading } from "../../core/notation/reading.ts";
import type { Source } from "../../core/notation/source.ts";
import {
  type CollectionMachine,
  type ListedFile,
  type ListedProblem,
  type ParsedText,
  type Problem,
  problemOf,
  type ReadText,
  type RecordCollection,
} from "../records/record-collection.ts";
import { readSkill, type Skill, type SkillLocation, type SkillOrigin } from "./skill.ts";

/** Folders with skills in them, or records; in order of priority. */
export interface SkillSource {
  readonly origin: SkillOrigin;
  readonly files: readonly ListedFile[];
  readonly problems: readonly ListedProblem[];
  read(file: ListedFile): ReadText;
  nameOf(path: string): string;
}

export interface SkillMachine {
  sources(): readonly SkillSource[];
  /** Skills that clients read by themselves: for `skills lint`, and offered to no agent. */
  clientSources?(): readonly SkillSource[];
  frontmatter(source: Source): ParsedText;
}

/** The records of class skill, as one more source. */
export function recordSkills(
  collection: RecordCollection,
  machine: Pick<CollectionMachine, "read" | "nameOf">,
): SkillSource {
  const files = collection.records.flatMap(({ path, recordClass }) => {
    const file = recordClass === "skill" ? collection.files.get(path) : undefined;
    return file === undefined ? [] : [file];
  });
  return { origin: "record", files, problems: [], read: machine.read, nameOf: machine.nameOf };
}

export interface SkillShelf {
  /** Sorted by name, without duplicates. */
  readonly skills: readonly Skill[];
  readonly problems: readonly Problem[];
}

/** Priority of duplicate names. A cloned project never replaces a skill the user already has. */
const ORDER: readonly SkillOrigin[] = ["user", "shared", "project", "record"];

export function openSkills(machine: SkillMachine, reading: Reading): SkillShelf {
  const taken = new Map<string, Skill>();
  const problems: Problem[] = [];
  const sources = [...machine.sources()].sort(
    (left, right) => ORDER.indexOf(left.origin) - ORDER.indexOf(right.origin),
  );
  for (const source of sources) {
    for (const problem of source.problems) problems.push(problemOf(source, problem));
    for (const file of source.files) {
      const read = readFile(machine, source, file, reading);
      problems.push(...read.problems);
      const other = read.skill === null ? undefined : taken.get(read.skill.name);
      if (read.skill !== null && other === undefined) taken.set(read.skill.name, read.skill);
      else if (read.skill !== null && other !== undefined)
        problems.push(
          problemOf(
            source,
            {
              path: file.path,
              code: "bad_value",
              message: `a skill called ${read.skill.name} already exists: ${other.file}`,
            },
            "warning",
          ),
        );
    }
  }
  const skills = [...taken.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  return { skills, problems };
}

function readFile(
  machine: SkillMachine,
  source: SkillSource,
  file: ListedFile,
  reading: Reading,
): { readonly skill: Skill | null; readonly problems: readonly Problem[] } {
  const content = source.read(file);
  if (!content.ok) {
    const { code, message } = content;
    return { skill: null, problems: [problemOf(source, { path: file.path, code, message })] };
  }
  const text: Source = { name: source.nameOf(file.path), text: content.text };
  const { read, body } = machine.frontmatter(text);
  const { skill, diagnostics } =
    read.tree === null
      ? { skill: null, diagnostics: read.diagnostics }
      : readSkill(foundAt(source, file), read.tree, text.text.slice(body.start), reading);
  return { skill, problems: diagnostics.map((diagnostic) => ({ diagnostic, source: text })) };
}

/** `name/SKILL.md`, or a record's `folder/name.md`. */
function foundAt({ origin, nameOf }: SkillSource, { path }: ListedFile): SkillLocation {
  const segments = path.split("/");
  const folder = origin === "record" ? (segments.at(-1) ?? "").replace(/\.md$/, "") : (segments.at(-2) ?? "");
  return { origin, file: nameOf(path), folder };
}
