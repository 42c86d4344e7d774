// Bytes on the JavaScript heap, and in the arrays beside it, after a full collection. Cells are started with the collector
// exposed.

export function heapBytes(): number {
  const { gc } = globalThis as { readonly gc?: () => void };
  if (gc === undefined) throw new Error("the collector is not exposed");
  for (let turn = 0; turn < 4; turn++) gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
