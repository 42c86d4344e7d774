// The questions of `ambit init`, on a terminal. A file of its own: the prompts are loaded only when they are needed.
import { confirm, intro, isCancel, log, multiselect, outro } from "@clack/prompts";
import { STARTERS, type Starter } from "../../agents/schema/starter.ts";
import { visibleText } from "../terminal/cells.ts";

/** Null where the person would rather not. */
export async function askStarters(
  found: readonly string[],
  chosen: readonly Starter[],
): Promise<readonly Starter[] | null> {
  intro("ambit: declare what AI agents may do");
  for (const line of found) log.info(visibleText(line));
  const starters = await multiselect<Starter>({
    message: "Which agents do you want to create? (space selects, enter continues)",
    options: STARTERS.map(({ name, does }) => ({ value: name, label: name, hint: does })),
    initialValues: [...chosen],
    required: true,
  });
  if (isCancel(starters)) return null;
  const agreed = await confirm({ message: `Write ${starters.join(", ")} to .ambit/?` });
  if (isCancel(agreed) || !agreed) return null;
  outro("writing");
  return starters;
}
