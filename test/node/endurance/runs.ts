/** How often the randomized tests run, and from which seed: briefly in `npm test`, as requested in `npm run dev -- endurance`. */

const MAX_SEED = 2 ** 31;

declare module "vitest" {
  interface ProvidedContext {
    endurance: Runs;
  }
}

export interface Runs {
  readonly seed: number;
  /** Simulations of a room without its object. */
  readonly simulations: number;
  /** The same scenarios against the running service. */
  readonly scenarios: number;
  /** Lives of a room whose clients send anything. */
  readonly protocol: number;
  /** Scenarios of clients that converge over networks that break. */
  readonly clients: number;
  /** Histories of clients whose tokens, sockets and clocks fail. */
  readonly connections: number;
  /** SIGKILLs of the running service while users write. */
  readonly kills: number;
  /** Events for a receiver that fails, which it catches up from the log; from a thousand on, with SIGKILLs. */
  readonly events: number;
  /** The same while users of the SDK write. */
  readonly clientKills: number;
  /** The same while a document is edited over all wires. */
  readonly documentKills: number;
  /** The same while producers append to a stream. */
  readonly streamKills: number;
  /** The same while events run a workflow with retries. */
  readonly workflowKills: number;
  /** Users of the SDK under whom the service is restarted. */
  readonly restartUsers: number;
  /** SIGKILLs of commands that back an organization up, and then of one that restores it. */
  readonly backupKills: number;
  /** Deploys under users of rooms of each shape; 0 for one under a few typical shapes. */
  readonly deploys: number;
  /** Minutes for which a tab is hidden; only `npm run dev -- endurance` does that. */
  readonly hiddenMinutes: number;
  /** Ends of a right that writes over all wires race. */
  readonly revocations: number;
  /** Rooms of a person whose access ends while the service is killed. */
  readonly accessRooms: number;
  /** Crashes of rooms and inboxes that pass notifications on. */
  readonly notificationKills: number;
  /** Random histories of agents that mention each other. */
  readonly wakes: number;
  /** Random histories of persons who get mails about unread notifications. */
  readonly mails: number;
  /** Programs that use time or memory without end; 0 for a few typical ones. */
  readonly runaways: number;
}

/** Reads the environment that `npm run dev -- endurance` sets. */
export function readRuns(environment: NodeJS.ProcessEnv): Runs {
  const read = (name: string, otherwise: number): number => Number(environment[name] ?? otherwise);
  return {
    seed: read("ATRIUM_SEED", Math.floor(Math.random() * MAX_SEED)),
    simulations: read("ATRIUM_SIMULATIONS", 400),
    scenarios: read("ATRIUM_SCENARIOS", 4),
    protocol: read("ATRIUM_PROTOCOL", 30),
    clients: read("ATRIUM_CLIENTS", 2),
    connections: read("ATRIUM_CONNECTIONS", 100),
    kills: read("ATRIUM_KILLS", 5),
    events: read("ATRIUM_EVENTS", 40),
    clientKills: read("ATRIUM_CLIENT_KILLS", 1),
    documentKills: read("ATRIUM_DOCUMENT_KILLS", 1),
    streamKills: read("ATRIUM_STREAM_KILLS", 1),
    workflowKills: read("ATRIUM_WORKFLOW_KILLS", 1),
    restartUsers: read("ATRIUM_RESTART_USERS", 10),
    backupKills: read("ATRIUM_BACKUP_KILLS", 1),
    deploys: read("ATRIUM_DEPLOYS", 0),
    hiddenMinutes: read("ATRIUM_HIDDEN_TAB", 6),
    revocations: read("ATRIUM_REVOCATIONS", 8),
    accessRooms: read("ATRIUM_ACCESS_ROOMS", 40),
    notificationKills: read("ATRIUM_NOTIFICATION_KILLS", 12),
    wakes: read("ATRIUM_WAKES", 10),
    mails: read("ATRIUM_MAILS", 5),
    runaways: read("ATRIUM_RUNAWAYS", 0),
  };
}
