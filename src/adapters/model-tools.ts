// The tools that a request to a model may name: the session's and the provider's, each name once.
import type { ProviderToolsView } from "../core/ports/daemon/daemon-calls.ts";
import type { Provider } from "../tools/provider/provider-catalog.ts";
import { type NamedTool, namedTools } from "./model-answers.ts";
import type { AdapterOptions, ModelSession } from "./session.ts";

export interface ModelTools {
  readonly own: readonly NamedTool[];
  readonly provider: ProviderToolsView;
}

const NONE: ProviderToolsView = { tools: [], omitted: [], notes: [] };

/**
 * The provider's tool is omitted where the session has one of the same name: every use of the session's is decided and
 * logged. A provider tool that the application names explicitly replaces the session's.
 */
export async function listModelTools(
  session: ModelSession,
  provider: Provider | null,
  { providerTools }: AdapterOptions,
): Promise<ModelTools> {
  const [listed, provided] = await Promise.all([
    session.tools(),
    provider === null || providerTools === null ? NONE : session.providerTools(provider, providerTools),
  ]);
  const isNamed = (name: string): boolean => providerTools?.names?.includes(name) === true;
  const isHere = (name: string): boolean => listed.some((one) => one.name === name) && !isNamed(name);
  const tools = provided.tools.filter(({ name }) => !isHere(name));
  const here = provided.tools.filter(({ name }) => isHere(name));
  return {
    own: namedTools(
      listed,
      tools.map(({ name }) => name),
    ),
    provider: {
      tools,
      omitted: [
        ...provided.omitted,
        ...here.map(({ name }) => ({ name, why: `the session's own tool ${name} is used instead` })),
      ],
      notes: provided.notes.filter((note) => !here.some(({ name }) => note.startsWith(`${name}: `))),
    },
  };
}
