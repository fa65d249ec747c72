/** All planted bugs, by the part of the service that they are in. */
import { ACCOUNTS } from "./accounts.ts";
import { ARCHIVE } from "./archive.ts";
import { DELIVERY } from "./delivery.ts";
import { DOCUMENTS } from "./documents.ts";
import { EVENT_LOG } from "./event-log.ts";
import { FILES } from "./files.ts";
import { HTTP } from "./http.ts";
import { MEMBERS } from "./members.ts";
import type { Mutant } from "./mutant.ts";
import { PEOPLE } from "./people.ts";
import { POOL } from "./pool.ts";
import { PRIVACY } from "./privacy.ts";
import { QUOTAS } from "./quotas.ts";
import { REALTIME } from "./realtime.ts";
import { ROOMS } from "./rooms.ts";
import { SDK } from "./sdk.ts";
import { SENDING } from "./sending.ts";
import { STORES } from "./stores.ts";
import { USERS } from "./users.ts";
import { WEBHOOKS } from "./webhooks.ts";
import { WORKFLOWS } from "./workflows.ts";

export const MUTANTS: readonly Mutant[] = [
  ...ACCOUNTS,
  ...ARCHIVE,
  ...DELIVERY,
  ...DOCUMENTS,
  ...EVENT_LOG,
  ...FILES,
  ...HTTP,
  ...MEMBERS,
  ...PEOPLE,
  ...POOL,
  ...PRIVACY,
  ...QUOTAS,
  ...REALTIME,
  ...ROOMS,
  ...SDK,
  ...SENDING,
  ...STORES,
  ...USERS,
  ...WEBHOOKS,
  ...WORKFLOWS,
];
