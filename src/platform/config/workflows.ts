/** The limits of a workflow's run, and the dispatch namespace that holds the scripts. */
import { readSetting, type Settings } from "./settings.ts";

export const runLimits = (env: Settings) => ({
  wallMs: readSetting(env, "WORKFLOW_WALL_MS"),
  cpuMs: readSetting(env, "WORKFLOW_CPU_MS"),
  processCpuMs: readSetting(env, "WORKFLOW_PROCESS_CPU_MS"),
  calls: readSetting(env, "WORKFLOW_CALLS"),
  resultBytes: readSetting(env, "WORKFLOW_RESULT_BYTES"),
  logBytes: readSetting(env, "WORKFLOW_LOG_BYTES"),
  memoryMb: readSetting(env, "WORKFLOW_MEMORY_MB"),
});

export interface NamespaceSettings {
  readonly accountId: string;
  readonly namespace: string;
  readonly token: string;
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

export const namespaceSettings = (env: Settings): NamespaceSettings => ({
  accountId: readSetting(env, "WORKFLOWS_CF_ACCOUNT_ID"),
  namespace: readSetting(env, "WORKFLOWS_NAMESPACE"),
  token: readSetting(env, "WORKFLOWS_API_TOKEN"),
  apiUrl: readSetting(env, "WORKFLOWS_API_URL"),
});
