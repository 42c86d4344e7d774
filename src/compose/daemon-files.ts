// File tools as the daemon carries them out: one worker for each session, held to the trees of its grants; every path
// decided by what the session holds at that moment.
import { arch } from "node:os";
import type { Request } from "../authority/request.ts";
import { isSegments } from "../authority/scope.ts";
import type { Carried, OwnerTool } from "../daemon/owner-tool.ts";
import type { Session } from "../daemon/session.ts";
import { ConfinedFiles, FILE_LIMITS } from "../node/file-worker/confined-files.ts";
import type { Walls } from "../node/file-worker/walls.ts";
import { findNames } from "../node/find-names.ts";
import { segmentsOf, type UserFolders } from "../node/folders.ts";
import { realRoot } from "../node/real-path.ts";
import { registeredWorkspaces } from "../node/registered-workspaces.ts";
import { kernelFacts } from "../node/sandbox/detect-sandbox.ts";
import { isProgram } from "../node/sandbox/programs.ts";
import type { FilePath, Files } from "../ports/files.ts";
import { callJudge, type Held } from "../tools/files/call-judge.ts";
import type { FileCall, FileTool } from "../tools/files/file-call.ts";
import { fileTools } from "../tools/files/file-tools.ts";
import { isKeptBy, keptPaths } from "../tools/files/kept.ts";
import { type GrantedTree, GrantedTrees } from "../tools/files/trees.ts";
import type { Result } from "../authority/result.ts";
import type { Ground } from "../authority/path.ts";
import type { Reading } from "../notation/reading.ts";
import { nativeProgram } from "./native-program.ts";
