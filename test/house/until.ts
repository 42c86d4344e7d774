// Waits until something holds that reports no event: another process has written a file, exited, or changed its answer.

const pollMilliseconds = 10;
/** As long as a busy machine may take; a test that gets here has failed. */
const untilMillisecondsMax = 60_000;

export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + untilMillisecondsMax;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((done) => setTimeout(done, pollMilliseconds));
  }
}
