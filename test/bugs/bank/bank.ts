/** The bug bank: all bugs that have a story, by what they harmed. */
import { ACCESS } from "./access.ts";
import type { Bug } from "./bug.ts";
import { CLIENTS } from "./clients.ts";
import { DASHBOARD } from "./dashboard.ts";
import { DELIVERIES } from "./deliveries.ts";
import { DOCUMENTS } from "./documents.ts";
import { OPERATION } from "./operation.ts";
import { REQUESTS } from "./requests.ts";
import { ROOMS } from "./rooms.ts";
import { SHARED_LOAD } from "./shared-load.ts";
import { WORKFLOWS } from "./workflows.ts";

export const BUGS: readonly Bug[] = [
  ...ROOMS,
  ...SHARED_LOAD,
  ...ACCESS,
  ...REQUESTS,
  ...DELIVERIES,
  ...WORKFLOWS,
  ...DOCUMENTS,
  ...CLIENTS,
  ...DASHBOARD,
  ...OPERATION,
];
