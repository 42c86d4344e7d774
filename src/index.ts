// The door `ambit`: what tools are made of. Nothing here touches the machine; `ambit/node` opens sessions. Types of parameters and
// results that are not named here are reached through the ones that are.

export type { Risk } from "./core/authority/catalog.ts";
export { DENIAL_CODES, type DenialCode } from "./core/authority/decision.ts";
export type { Json, JsonObject } from "./core/base/json.ts";
export type { Context } from "./runtime/context/context.ts";
export type { FetchOptions } from "./runtime/context/fetch-request.ts";
export type { FilesInstrument } from "./runtime/context/files.ts";
export type { KeysInstrument } from "./runtime/context/keys.ts";
export type { NetInstrument } from "./runtime/context/net.ts";
export type { ObserveInstrument } from "./runtime/context/observations.ts";
export type { ProcessInstrument, ProgramResult } from "./runtime/context/programs.ts";
export type { FetchedResponse } from "./runtime/context/response.ts";
export type { SecretsInstrument } from "./runtime/context/secrets.ts";
export type { ToolRequest } from "./runtime/context/tool-request.ts";
export type { UseDenial, UseResult } from "./runtime/context/use-result.ts";
export type { Capabilities } from "./runtime/tool/declaration.ts";
export { defineTool, type Tool, type ToolDefinition } from "./runtime/tool/define.ts";
export type { InputOf, InputSchema } from "./runtime/tool/input.ts";
export type { JsonSchema } from "./runtime/tool/json-schema.ts";
export type { PlainTool, Registration } from "./runtime/tool/registry.ts";
export type { RegistrationError } from "./runtime/tool/requirement.ts";
export type { StandardSchema } from "./runtime/tool/standard-schema.ts";
