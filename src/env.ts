/** The bindings of a deployment, as wrangler.toml names them. */
import type { SettingName } from "./platform/settings.ts";

/** Settings are strings; `platform/settings.ts` and `platform/config.ts` parse them. */
export interface Env extends Partial<Record<SettingName, string>> {
  /** The directory. d1/databases opens DB_2 and so on. */
  readonly DB: D1Database;
  /** The objects of each kind. The function that opens one of them knows its class. */
  readonly ROOMS: DurableObjectNamespace;
  readonly SUBSCRIBERS: DurableObjectNamespace;
  readonly EVENT_LOGS: DurableObjectNamespace;
  readonly REQUEST_LOGS: DurableObjectNamespace;
  readonly REQUEST_RATES: DurableObjectNamespace;
  readonly GUESS_LIMITS: DurableObjectNamespace;
  readonly INBOXES: DurableObjectNamespace;
  /** Absent where R2 is off: uploads and downloads are then refused. */
  readonly FILES?: R2Bucket;
  readonly METRICS?: AnalyticsEngineDataset;
  readonly ACCOUNT_RATE_LIMIT: RateLimit;
  readonly CREDENTIAL_RATE_LIMIT: RateLimit;
  readonly USER_RATE_LIMIT: RateLimit;
  readonly AUTH_FAILURE_RATE_LIMIT: RateLimit;
  readonly DEMO_RATE_LIMIT: RateLimit;
  readonly GUEST_RATE_LIMIT: RateLimit;
  readonly SIGN_IN_ADDRESS_RATE_LIMIT: RateLimit;
  readonly PROGRAM_POOL?: Fetcher;
  readonly PROGRAM_PORT?: DebugPort;
  /** Connects to public addresses only: under `npm start`, where `fetch` also reaches this machine and its network. */
  readonly PUBLIC_NETWORK?: Fetcher;
  readonly MAIL?: SendEmail;
  /** Takes the mail instead, for a developer to read: only under `npm start` on this machine. */
  readonly MAIL_TRAY?: Fetcher;
  /** Under `npm start`: says when the disk of the state runs low. */
  readonly DISK?: Fetcher;
  /** Under `npm start`: `atrium.tgz`, built when it is first asked for. A deployment has it among its files. */
  readonly PACKAGE?: Fetcher;
  readonly LOADER?: WorkerLoader;
  /** The scripts of workflows in a dispatch namespace (Workers for Platforms); replaces LOADER. */
  readonly DISPATCHER?: DispatchNamespace;
  readonly ASSETS: Fetcher;
}

type RemoteEntrypoint = object;

export interface DebugPort {
  /** The workerd that listens at the address, such as `unix:/path`. */
  connect(address: string): Promise<RemoteWorkerd>;
}

interface RemoteWorkerd {
  getEntrypoint(service: string, entrypoint: string): Promise<RemoteEntrypoint>;
}
