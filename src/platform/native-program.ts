// Our native program in our package: one for each processor, of which the package has x64 and arm64.
import { join, resolve } from "node:path";

export function nativeProgram(program: string, architecture: string = process.arch): string {
  return join(program, "dist", "native", architecture, "ambit-native");
}

/** What to say where there is no file at that path. The package has the sources, so it can be built where it is installed. */
export function nativeMissing(native: string): { readonly message: string; readonly fix: string } {
  if (process.platform !== "linux")
    return {
      message: `ambit runs programs on Linux, and this is ${process.platform}`,
      fix: "use a Linux machine, virtual machine or container (on Windows: WSL 2)",
    };
  const build = resolve(native, "..", "..", "..", "..", "scripts", "native.mjs");
  return {
    message: `ambit's native program for ${process.arch} is not there`,
    fix: `build it, which needs a C compiler: node ${JSON.stringify(build)} program`,
  };
}
