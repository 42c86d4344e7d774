// One value of the compact notation as it is printed: bare where that reads back as the same text, else in quotes.

import { visible } from "../visible.ts";
import { bareValue } from "./compact-parser.ts";

export function compactWord(text: string): string {
  const isBare = /^[A-Za-z0-9_./~*+:@%=-]+$/.test(text) && bareValue(text) === text;
  return isBare ? text : visible(JSON.stringify(text));
}

export function compactList(texts: readonly string[]): string {
  return `[${texts.map(compactWord).join(",")}]`;
}

export function compactKey(text: string): string {
  return /^[A-Za-z0-9_.-]+$/.test(text) ? text : visible(JSON.stringify(text));
}
