// Scenes that only make sense inside the process that lives through them.
import type { Orders } from "./orders.ts";

type Scene = (orders: Orders, say: (line: string) => void) => Promise<void>;

export const scenes: Readonly<Record<string, Scene>> = {};
