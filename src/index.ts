// The door of the pure core: the value of authority, its notations, the decision and its proof. Nothing here touches
// the machine; what is needed of it comes in as arguments.

export type { Destination, ToAscii } from "./core/authority/axes/destination.ts";
export { BUILTIN_TOOLS } from "./core/authority/axes/name.ts";
export type { Ground } from "./core/authority/axes/path.ts";
export type { Scope, Value } from "./core/authority/axes/scope.ts";
export { type Screened, screen } from "./core/authority/axes/screen.ts";
export { parseUrl, type Url } from "./core/authority/axes/url.ts";
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
} from "./core/authority/catalog.ts";
export { type Authority, type Chain, chainLevel, coverage } from "./core/authority/chain.ts";
export { type CompiledLink, compile, type Moment } from "./core/authority/compiled.ts";
export { type Basis, DENIAL_CODES, type Decision, type DenialCode, type Shortfall } from "./core/authority/decision.ts";
export { type DelegationFault, delegationFault } from "./core/authority/delegation.ts";
export { type Explanation, explain, type LinkExplanation } from "./core/authority/explain.ts";
export {
  type Conditions,
  type Grant,
  type Level,
  type Pass,
  type Purpose,
  type Span,
  UNCONDITIONAL,
} from "./core/authority/grant.ts";
export { judge } from "./core/authority/judge.ts";
export { ALWAYS, type Link, type LinkRole, type Validity } from "./core/authority/link.ts";
export { type Meet, meetChain, meetGrants } from "./core/authority/meet.ts";
export { RISKY_OPTIONS_VERSION } from "./core/authority/programs/risky.ts";
export type { Delegation, Request } from "./core/authority/request.ts";
export { suggestGrant } from "./core/authority/suggest.ts";
export { type Containment, type WithinOptions, within } from "./core/authority/witness/within.ts";
export { type Address, type AddressRange, addressText, parseAddress, parseRange } from "./core/base/address.ts";
export type { Json, JsonObject } from "./core/base/json.ts";
export type { Refusal, Result } from "./core/base/result.ts";
export { type Authorization, authorize } from "./core/gate/call.ts";
export { type Call, type CallDecision, decideCall } from "./core/gate/call-decision.ts";
export { type Caller, decide, type Verdict } from "./core/gate/decide.ts";
export type { KnownTool, ToolLookup } from "./core/gate/known-tool.ts";
export { isWarrant, type Warrant } from "./core/gate/warrant.ts";
export { type CaveatsLink, caveatsTable, readCaveats } from "./core/notation/caveats/caveats.ts";
export { caveatsOf } from "./core/notation/caveats/caveats-printer.ts";
export { readCompact } from "./core/notation/compact/compact.ts";
export { type Diagnostic, type DiagnosticCode, Diagnostics, type Severity } from "./core/notation/diagnostic.ts";
export { type Manifest, readManifest } from "./core/notation/manifest/manifest.ts";
export {
  effectivePolicy,
  type PolicyTable,
  policyGrants,
  readOrgTable,
  readPolicyTable,
} from "./core/notation/policy/policy.ts";
export { compactText, grantWords } from "./core/notation/printer.ts";
export type { Reading } from "./core/notation/reading.ts";
export { PRESETS } from "./core/notation/record/presets.ts";
export { type AgentRecord, readRecord } from "./core/notation/record/record.ts";
export { methodVerb, readRequest, readRequestText } from "./core/notation/request/request.ts";
export { requestText } from "./core/notation/request/request-printer.ts";
export { readToken } from "./core/notation/tokens/token.ts";
export { readDeclaration, type ToolRequirement } from "./core/notation/tools/declaration.ts";
export { readDeclarationValue } from "./core/notation/tools/declaration-value.ts";
export type { Entry, List, Mapping, Scalar, TreeNode } from "./core/notation/tree.ts";
export type { ApprovalAnswer, ApprovalRequest, Approvals } from "./core/ports/approvals.ts";
export type { Clock, Entropy } from "./core/ports/clock.ts";
export type { Enforcement, Strength } from "./core/ports/enforcement.ts";
export type { FileEntry, FileFacts, FileMatch, FilePath, FileRefusal, FileResult, Files } from "./core/ports/files.ts";
export type {
  HttpExchange,
  HttpPort,
  HttpResponse,
  KeysPort,
  KeyValue,
  KeyWrite,
  MemoryPort,
  ObservationsPort,
  ObservationView,
  PortFailure,
  PortResult,
  ProgramEnd,
  ProgramRequest,
  ProgramsPort,
  SecretsPort,
  StopSignal,
  StoragePort,
} from "./core/ports/instruments.ts";
export type { Judge } from "./core/ports/judge.ts";
export type { CompletedRun, Ending, RunDenial, RunRefusal, RunResult, Sinks, Usage } from "./core/ports/process.ts";
export type { Resolver } from "./core/ports/resolver.ts";
export type { Charge, Commit, CommitResult, Entry as CommitEntry } from "./core/ports/stores/commit.ts";
export {
  type Context,
  type ContextParts,
  type Instruments,
  makeContext,
  type OpenContext,
  type SignalInstrument,
} from "./runtime/context/context.ts";
export type { FetchOptions } from "./runtime/context/fetch-request.ts";
export type { FilesInstrument, FoundLine, ListedFile } from "./runtime/context/files.ts";
export type { KeyOptions, KeysInstrument } from "./runtime/context/keys.ts";
export type { NetInstrument } from "./runtime/context/net.ts";
export type { ObservationsQuery, ObserveInstrument } from "./runtime/context/observations.ts";
export type { ProcessInstrument, ProgramOptions, ProgramResult } from "./runtime/context/programs.ts";
export type { FetchedHeaders, FetchedResponse } from "./runtime/context/response.ts";
export type { SecretOptions, SecretsInstrument } from "./runtime/context/secrets.ts";
export type { ToolRequest } from "./runtime/context/tool-request.ts";
export type { UseDenial, UseResult } from "./runtime/context/use-result.ts";
export type { Availability, Backend, Backends, Needs } from "./runtime/tool/availability.ts";
export type { Capabilities, StorageScope, Store } from "./runtime/tool/declaration.ts";
export { defineTool, type Tool, type ToolDefinition, type ToolFault } from "./runtime/tool/define.ts";
export type { InputOf, InputResult, InputSchema } from "./runtime/tool/input.ts";
export type { FromSchema, JsonSchema, SchemaType } from "./runtime/tool/json-schema.ts";
export type { RegisteredTool } from "./runtime/tool/registered.ts";
export {
  createRegistry,
  type Registration,
  type Registry,
  type RegistryChange,
  type RegistryParts,
  type ToolListing,
} from "./runtime/tool/registry.ts";
export type { Policy, ReadRequirement, RegistrationError, Requirement } from "./runtime/tool/requirement.ts";
export { type RunParts, runTool } from "./runtime/tool/run.ts";
export type { InputIssue } from "./runtime/tool/schema-check.ts";
export type { StandardSchema } from "./runtime/tool/standard-schema.ts";
export type { ToolOrigin } from "./runtime/tool/tool-name.ts";
export type { ToolOutcome } from "./runtime/tool/tool-outcome.ts";
