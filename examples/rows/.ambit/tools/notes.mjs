// A tool that reads a note, and one whose secret is not kept.
const name = { type: "string", pattern: "^[a-z]+$" };

export const tools = [
  {
    name: "read_note",
    description: "Read one of the notes of this project by its name.",
    capabilities: { fs_reach: { read: ["notes"] } },
    input: { type: "object", properties: { name }, required: ["name"], additionalProperties: false },
    requests: (input) => [{ verb: "fs.read", path: `notes/${input.name}` }],
    execute: (input, context) => context.files.readText(`notes/${input.name}`),
  },
  {
    name: "forecast",
    description: "Say how the weather will be in a city.",
    capabilities: { network: { allowedHosts: ["api.weather.gov"] }, secrets: ["WEATHER_API_KEY"] },
    input: { type: "object", properties: { city: name }, required: ["city"], additionalProperties: false },
    execute: (input) => `${input.city}: rain`,
  },
];
