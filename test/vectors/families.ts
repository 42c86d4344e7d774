// Every vector file by its name, and its runner. An unknown name is an error.
import { doctorWarnings } from "./agents-doctor.ts";
import { execScope, gate, lattice } from "./bridle-caveats.ts";
import { netScreen, ssrfAddress } from "./bridle-net.ts";
import { pathScope } from "./bridle-paths.ts";
import { deniedVariables, sandboxProfile } from "./confinement.ts";
import { check, subset } from "./egghead-check.ts";
import { argvPattern, hostMatch, pathGlob } from "./egghead-patterns.ts";
import { accessAndDefaults, checkedList, parse } from "./egghead-records.ts";
import { skills } from "./egghead-skills.ts";
import { toolRequests } from "./egghead-tools.ts";
import { scopedReads } from "./ethos-fs.ts";
import { resolveHosts, scopedFetchHost, urlScreen } from "./ethos-hosts.ts";
import { redirects } from "./ethos-redirects.ts";
import { alwaysDenied, binaries, registration, secrets } from "./ethos-tools.ts";
import { fileNames } from "./fnmatch.ts";
import { reads } from "./later.ts";
import type { Family } from "./outcome.ts";
import { policyResolution } from "./quorum.ts";
import { orgLines } from "./quorum-lines.ts";
import { tokenGlob } from "./scarab.ts";
import { dispatch } from "./scarab-dispatch.ts";
import { served } from "./served.ts";
import { caveatsSource } from "./served-caveats.ts";
import { subsetShell } from "./shell.ts";

export const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ["bridle-caveats-lattice", lattice],
  ["bridle-caveats-source", caveatsSource],
  ["bridle-enforcement-report", reads("their backends and their three strengths; we report what held each axis")],
  ["bridle-env-denylist", deniedVariables],
  ["bridle-exec-scope", execScope],
  ["bridle-fnmatch", fileNames],
  ["bridle-gate", gate],
  ["bridle-mcp", served],
  ["bridle-net-screen", netScreen],
  ["bridle-path-scope", pathScope],
  ["bridle-policy-verdicts", reads("signed verdict files, which we do not have")],
  ["bridle-safe-subset-shell", subsetShell],
  ["bridle-ssrf-ip", ssrfAddress],
  ["egghead-access-and-defaults", accessAndDefaults],
  ["egghead-argv-pattern", argvPattern],
  ["egghead-check", check],
  ["egghead-doctor-warnings", doctorWarnings],
  ["egghead-host-match", hostMatch],
  ["egghead-parse", parse],
  ["egghead-path-glob", pathGlob],
  ["egghead-sandbox", sandboxProfile],
  ["egghead-skills", skills],
  ["egghead-subset", subset],
  ["egghead-tool-to-request", toolRequests],
  ["egghead-validate", checkedList],
  ["ethos-always-deny-paths", alwaysDenied],
  ["ethos-fs", scopedReads],
  ["ethos-network-policy-host", hostMatch],
  ["ethos-process", binaries],
  ["ethos-redirects", redirects],
  ["ethos-resolve-hosts", resolveHosts],
  ["ethos-scoped-fetch-host", scopedFetchHost],
  ["ethos-secrets", secrets],
  ["ethos-validate-registration", registration],
  ["ethos-validate-url", urlScreen],
  ["quorum-md-parse", orgLines],
  ["quorum-policy-resolution", policyResolution],
  ["scarab-dispatch", dispatch],
  ["scarab-token-glob", tokenGlob],
]);
