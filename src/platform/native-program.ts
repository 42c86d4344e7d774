// The path of our native program in our package.
import { join } from "node:path";

export function nativeProgram(program: string): string {
  return join(program, "dist", "native", "ambit-native");
}
