// SHA-256, by Node.
import { createHash } from "node:crypto";
import type { Digest } from "../ports/digest.ts";

export const sha256: Digest = (text) => createHash("sha256").update(text, "utf8").digest("hex");
