// The door of the pure core: the value of authority, its notations, the decision and its proof. Nothing here touches
// the machine; what is needed of it comes in as arguments.

export { type Address, type AddressRange, addressText, parseAddress, parseRange } from "./authority/address.ts";
export {
  type AxisName,
  byRisk,
  CATALOG,
  type Family,
  type Risk,
  type ScopeKey,
  scopeKeys,
  type VerbEntry,
  verbEntry,
} from "./authority/catalog.ts";
export { type Authority, type Chain, chainLevel, coverage } from "./authority/chain.ts";
export { type CompiledLink, compile, type Moment } from "./authority/compiled.ts";
export { type Basis, DENIAL_CODES, type Decision, type DenialCode, type Shortfall } from "./authority/decision.ts";
export { type DelegationFault, delegationFault } from "./authority/delegation.ts";
export type { Destination, ToAscii } from "./authority/destination.ts";
export { type Explanation, explain, type LinkExplanation } from "./authority/explain.ts";
export {
  type Conditions,
  type Grant,
  type Level,
  type Pass,
  type Purpose,
  type Span,
  UNCONDITIONAL,
} from "./authority/grant.ts";
export type { Json, JsonObject } from "./authority/json.ts";
export { judge } from "./authority/judge.ts";
export { ALWAYS, type Link, type LinkRole, type Validity } from "./authority/link.ts";
export { type Meet, meetChain, meetGrants } from "./authority/meet.ts";
export { BUILTIN_TOOLS } from "./authority/name.ts";
export type { Ground } from "./authority/path.ts";
export type { Delegation, Request } from "./authority/request.ts";
export type { Refusal, Result } from "./authority/result.ts";
export { RISKY_OPTIONS_VERSION } from "./authority/risky.ts";
export type { Scope, Value } from "./authority/scope.ts";
export { type Screened, screen } from "./authority/screen.ts";
export { suggestGrant } from "./authority/suggest.ts";
export { parseUrl, type Url } from "./authority/url.ts";
export { type Containment, type WithinOptions, within } from "./authority/within.ts";
export type { Asked } from "./context/asking.ts";
export {
  type Context,
  type ContextParts,
  type Instruments,
  makeContext,
  type OpenContext,
  type SignalInstrument,
} from "./context/context.ts";
export type { FetchOptions } from "./context/fetch-asked.ts";
export type { FilesInstrument, FoundLine, ListedFile } from "./context/files.ts";
export type { KeyOptions, KeysInstrument } from "./context/keys.ts";
export type { NetInstrument } from "./context/net.ts";
export type { ObservationsAsked, ObserveInstrument } from "./context/observations.ts";
export type { ProcessInstrument, ProgramOptions, ProgramResult } from "./context/programs.ts";
export type { FetchedHeaders, FetchedResponse } from "./context/response.ts";
export type { SecretOptions, SecretsInstrument } from "./context/secrets.ts";
export type { Denied, Used } from "./context/used.ts";
export { type Authorization, authorize } from "./gate/call.ts";
export { type Call, type CallDecision, decideCall } from "./gate/call-decision.ts";
export { type Caller, decide, type Verdict } from "./gate/decide.ts";
export { type CaveatsLink, caveatsTable, readCaveats } from "./notation/caveats.ts";
export { caveatsOf } from "./notation/caveats-printer.ts";
export { readCompact } from "./notation/compact.ts";
export { readDeclaration, type ToolRequirement } from "./notation/declaration.ts";
export { readDeclarationValue } from "./notation/declaration-value.ts";
export { type Diagnostic, type DiagnosticCode, Diagnostics, type Severity } from "./notation/diagnostic.ts";
export { type Manifest, readManifest } from "./notation/manifest.ts";
export { effectivePolicy, type PolicyTable, policyGrants, readOrgTable, readPolicyTable } from "./notation/policy.ts";
export { PRESETS } from "./notation/presets.ts";
export { compactText, grantWords } from "./notation/printer.ts";
export type { Reading } from "./notation/reading.ts";
export { type AgentRecord, readRecord } from "./notation/record.ts";
export { methodVerb, readRequest, readRequestText } from "./notation/request.ts";
export { requestText } from "./notation/request-printer.ts";
export { readToken } from "./notation/token.ts";
export type { Entry, List, Mapping, Scalar, TreeNode } from "./notation/tree.ts";
export type { ApprovalAnswer, ApprovalAsked, Approvals } from "./ports/approvals.ts";
export type { Clock, Entropy } from "./ports/clock.ts";
export type { Charge, Commit, CommitResult, Entry as CommitEntry } from "./ports/commit.ts";
export type { Enforcement, Strength } from "./ports/enforcement.ts";
export type { FileEntry, FileFacts, FileMatch, FilePath, FileRefused, FileResult, Files } from "./ports/files.ts";
export type {
  Exchange,
  Exchanged,
  Fetching,
  KeysPort,
  KeyValue,
  KeyWrite,
  Memory,
  MemoryPort,
  Network,
  ObservationSeen,
  ObservationsPort,
  PortFailure,
  PortResult,
  ProgramAsked,
  ProgramEnded,
  ProgramsPort,
  Secrets,
  SecretsPort,
  StopSignal,
  StoragePort,
} from "./ports/instruments.ts";
export type { Judge } from "./ports/judge.ts";
export type { Ending, Ran, RunDenial, RunRefused, RunResult, Sinks, Usage } from "./ports/process.ts";
export type { Resolver } from "./ports/resolver.ts";
export type { Availability, Backend, Backends, Needs } from "./tool/availability.ts";
export type { Capabilities, StorageScope, Store } from "./tool/declaration.ts";
export { defineTool, type Tool, type ToolDefinition, type ToolFault } from "./tool/define.ts";
export type { Accepted, InputOf, InputSchema } from "./tool/input.ts";
export type { FromSchema, JsonSchema, SchemaType } from "./tool/json-schema.ts";
export type { KnownTool, ToolLookup } from "./tool/known-tool.ts";
export type { RegisteredTool } from "./tool/registered.ts";
export {
  createRegistry,
  type Registration,
  type Registry,
  type RegistryChange,
  type RegistryParts,
  type ToolListing,
} from "./tool/registry.ts";
export type { Policy, ReadRequirement, RegistrationError, Requirement } from "./tool/requirement.ts";
export type { ToolOutcome } from "./tool/returned.ts";
export { type RunParts, runTool } from "./tool/run.ts";
export type { InputIssue } from "./tool/schema-check.ts";
export type { StandardSchema } from "./tool/standard-schema.ts";
export type { ToolOrigin } from "./tool/tool-name.ts";
export { isWarrant, type Warrant } from "./warrant/warrant.ts";
