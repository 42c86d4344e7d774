// The `args` and `args_only` of a scope in the compact notation.
import { type ArgumentsScope, type Constraint, placeText } from "../../authority/axes/constraint.ts";
import { hostTexts } from "../../authority/axes/destination.ts";
import { compactKey, compactList, compactWord } from "../compact/compact-word.ts";
import { freePathText } from "./path-entry.ts";

export function argumentPairs({ constrained, only }: ArgumentsScope): string[] {
  const arguments_ = constrained.map(
    ({ at, constraint }) => `${compactKey(placeText(at))}={${constraintText(constraint)}}`,
  );
  return [...(constrained.length === 0 ? [] : [`args={${arguments_.join(",")}}`]), ...(only ? ["args_only"] : [])];
}

function constraintText(constraint: Constraint): string {
  switch (constraint.kind) {
    case "values":
      return `values=[${constraint.values.map((value) => (typeof value === "string" ? compactWord(value) : String(value))).join(",")}]`;
    case "range":
      return `range=[${endText(constraint.low)},${endText(constraint.high)}]`;
    case "max_length":
      return `max_length=${constraint.length}`;
    case "text":
      return `text=${compactList(constraint.patterns.map((parts) => parts.join("*")))}`;
    case "path":
      return `path=${compactList(constraint.patterns.map(freePathText))}`;
    case "url":
      return `url=${compactList(hostTexts(constraint.hosts))}`;
    default:
      return constraint satisfies never;
  }
}

function endText(end: number): string {
  return Number.isFinite(end) ? String(end) : "null";
}
