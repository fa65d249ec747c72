/** The connection as a pure state machine: a state and an event give the next state and the effects. */
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { clientFault, codeOfClose, type Fault, isRetryable } from "../../core/error.ts";
import type { Role } from "../../wire/resources.ts";
import type { TokenReason } from "./token.ts";

/** How a socket ended: a WebSocket close code, and its reason. */
export interface Closure {
  readonly code: number;
  readonly reason: string;
}

/**
 * - `idle`: neither `connect()` nor `join()` has been called.
 * - `authorizing`: a token is being asked for.
 * - `connecting`: the socket is being opened.
 * - `open`: the socket is open, without `join()`.
 * - `joining`: the room is being joined and loaded.
 * - `joined`: everything is up to date.
 * - `waiting`: the next attempt has its time.
 * - `closed`: `disconnect()` was called, or another attempt cannot succeed.
 */
type Phase = "idle" | "authorizing" | "connecting" | "open" | "joining" | "joined" | "waiting" | "closed";

/** Times are milliseconds of the clock that never goes back. */
export interface State {
  readonly phase: Phase;
  /** The request of `join()`; null for `connect()` alone. */
  readonly target: { readonly role: Role | undefined } | null;
  /** Failed attempts in a row; 0 after a connection that lasted. */
  readonly attempt: number;
  /** Why the latest attempt failed, or why the connection is closed; null while it is joined and after `disconnect()`. */
  readonly error: Fault | null;
  /** The time of the next attempt, or of the next question for a token. */
  readonly retryAt: number | null;
  readonly joinedAt: number | null;
  /** Why the service is about to close this socket. */
  readonly refusal: Fault | null;
  /** A refused token was replaced by a new one since the room was joined last. */
  readonly hasReplacedToken: boolean;
  /** Calls of `authToken` in a row that returned null. */
  readonly nulls: number;
  /** A ping that was sent at `sentAt` is to be answered by `due`. */
  readonly ping: { readonly sentAt: number; readonly due: number } | null;
}

export const IDLE: State = {
  phase: "idle",
  target: null,
  attempt: 0,
  error: null,
  retryAt: null,
  joinedAt: null,
  refusal: null,
  hasReplacedToken: false,
  nulls: 0,
  ping: null,
};

/** `ask`: for a token. `step`: the end of `connecting` and of `waiting`. `ping`: the next one, or the end of its wait. */
export type TimerName = "ask" | "step" | "ping";

export type Event =
  | { readonly type: "connect" | "disconnect" | "opened" | "loaded" }
  | { readonly type: "join"; readonly role?: Role | undefined }
  /** The network, the page or its visibility has changed. */
  | { readonly type: "wake"; readonly isBack: boolean }
  /** The page is left, and the browser may keep it for a return. */
  | { readonly type: "shelved" }
  /** The answer of `authToken`. */
  | { readonly type: "token"; readonly token: string | null }
  | { readonly type: "tokenFailed"; readonly fault: Fault }
  /** The service has taken the new token of an open connection, or refused it. */
  | { readonly type: "refreshed"; readonly fault: Fault | null }
  /** The service refused the join, or ends the token: it closes the socket next. */
  | { readonly type: "refused"; readonly fault: Fault }
  | { readonly type: "lost"; readonly closure: Closure }
  | { readonly type: "timer"; readonly name: TimerName };

export type Effect =
  | { readonly type: "askToken"; readonly reason: TokenReason }
  | { readonly type: "forgetToken" | "ping" }
  /** `connect()`, or `join()`, has what it waits for. */
  | { readonly type: "settle"; readonly what: "opened" | "joined" }
  | { readonly type: "open" | "refresh"; readonly token: string }
  | { readonly type: "join"; readonly token: string; readonly role: Role | undefined }
  /** Sets a timer; null cancels it. */
  | { readonly type: "timer"; readonly name: TimerName; readonly delayMs: number | null }
  /** Closes the socket, and drops the question for a token. Requests wait for the next socket. */
  | { readonly type: "drop"; readonly code: number }
  /** There will be no further attempt: requests fail. */
  | { readonly type: "stop"; readonly fault: Fault };

/** Facts at the time of the event that the state does not have. */
export interface Circumstances {
  readonly now: number;
  readonly random: number;
  /** When the latest message arrived. */
  readonly receivedAt: number;
  /** The time until the token must be renewed; null for a token that is a text. */
  readonly renewInMs: number | null;
  readonly reconnect: boolean;
}

export type Step = readonly [State, ...Effect[]];

export const LEFT = clientFault("DISCONNECTED", "disconnect() was called");
const UNREACHABLE = clientFault("CONNECTION_FAILED", "Connecting failed: check the network and the address");

const OPEN_LIMIT_MS = 15_000;
const PING_INTERVAL_MS = 20_000;
const PONG_LIMIT_MS = 10_000;
/** Limit for the pong after a sleep or a change of the network, when the connection is probably dead. */
const WAKE_LIMIT_MS = 3_000;
const STABLE_MS = 5_000;
const RENEW_AGAIN_MS = 15_000;
/** Timers wait at most 24 days. */
const MAX_TIMER_MS = 3_600_000;
export const NULL_BACKOFF = { firstMs: 1_000, maxMs: 30_000 };
const BACKOFF = { firstMs: 1_000, maxMs: 10_000 };

const NORMAL_CLOSURE = 1000;
const ABNORMAL_CLOSURE = 1006;
/** A client closes a socket that it replaces with this code: its user has not left. */
const REPLACED = 4000;
const INVALID = 4400;
/** Closes both a connection with a too large frame and one that reads too slowly. */
const TOO_MUCH = 4413;

const SHELVED = { code: ABNORMAL_CLOSURE, reason: "The page was left" };
const IN_TIME = { code: ABNORMAL_CLOSURE, reason: "The connection timed out" };

const isOpen = ({ phase }: State): boolean => phase === "open" || phase === "joining" || phase === "joined";

/** Neither `connect()` nor `join()` was called, or the end is final. */
export const isOver = ({ phase }: State): boolean => phase === "idle" || phase === "closed";

/** A token is needed to go on. */
const needsToken = ({ phase }: State): boolean => phase === "authorizing" || phase === "joining";

const timer = (name: TimerName, delayMs: number | null): Effect => ({ type: "timer", name, delayMs });

const ask = (reason: TokenReason): Effect => ({ type: "askToken", reason });

/** Forgets a token that was refused. */
const forget = ({ code }: Fault): Effect[] => (code === "UNAUTHORIZED" ? [{ type: "forgetToken" }] : []);

/** The table of docs/guides/connecting.md: events without an entry for the phase change nothing. */
export function step(state: State, event: Event, around: Circumstances): Step {
  switch (event.type) {
    case "connect":
      return isOver(state) ? start(IDLE) : [state];
    case "join":
      return join(state, { role: event.role });
    case "disconnect":
      // Requests from before the first join wait for none any more.
      if (state.phase === "idle") return [state, { type: "stop", fault: LEFT }];
      return state.phase === "closed" && state.error === null ? [state] : end(state, LEFT, "closed", null);
    case "wake":
      return wake(state, event.isBack, around);
    case "shelved":
      return shelve(state, around);
    case "token":
      return event.token === null ? askLater(state, around) : take(state, event.token);
    case "tokenFailed":
      return failToken(state, event.fault, around);
    case "opened":
      return state.phase === "connecting" ? opened(state) : [state];
    case "refused":
      return refuse(state, event.fault);
    case "loaded":
      return state.phase === "joining" ? loaded(state, around) : [state];
    case "refreshed":
      return state.phase === "joined" ? refreshed(state, event.fault, around) : [state];
    case "lost":
      return isOpen(state) || state.phase === "connecting" ? lose(state, event.closure, around) : [state];
    case "timer":
      return timed(state, event.name, around);
  }
}

function start(state: State): Step {
  const reason = state.refusal?.code === "UNAUTHORIZED" ? "refused" : "connect";
  return [
    { ...state, phase: "authorizing", retryAt: null, refusal: null, nulls: 0, ping: null, joinedAt: null },
    timer("step", null),
    ask(reason),
  ];
}

function join(state: State, target: NonNullable<State["target"]>): Step {
  if (isOver(state)) return start({ ...IDLE, target });
  const wanting = { ...state, target: state.target ?? target };
  if (state.phase === "waiting") return start(wanting);
  if (state.phase !== "open") return [wanting];
  return [{ ...wanting, phase: "joining" }, ask("connect")];
}

/** A text that is no token never gets here. */
function take(state: State, token: string): Step {
  const next = { ...state, nulls: 0, retryAt: null };
  switch (state.phase) {
    case "authorizing":
      return [{ ...next, phase: "connecting" }, timer("step", OPEN_LIMIT_MS), { type: "open", token }];
    case "joining":
      return [next, { type: "join", token, role: state.target?.role }];
    case "joined":
      return [next, { type: "refresh", token }];
    default:
      return [state];
  }
}

function askLater(state: State, { now }: Circumstances): Step {
  if (state.phase === "joined") return [state, timer("ask", RENEW_AGAIN_MS)];
  if (!needsToken(state)) return [state];
  const nulls = state.nulls + 1;
  const delayMs = backoffMs(nulls, NULL_BACKOFF);
  return [{ ...state, nulls, retryAt: now + delayMs }, timer("ask", delayMs)];
}

function failToken(state: State, fault: Fault, around: Circumstances): Step {
  if (state.phase === "joined") return refreshed(state, fault, around);
  if (!needsToken(state)) return [state];
  const code = isRetryable(fault.code) ? ABNORMAL_CLOSURE : INVALID;
  return lose({ ...state, refusal: fault }, { code, reason: fault.message }, around);
}

function opened(state: State): Step {
  const effects: Effect[] = [
    { type: "settle", what: "opened" },
    timer("step", null),
    timer("ping", PING_INTERVAL_MS),
  ];
  if (state.target === null) return [{ ...state, phase: "open", error: null }, ...effects];
  return [{ ...state, phase: "joining" }, ...effects, ask("connect")];
}

function refuse(state: State, fault: Fault): Step {
  if (!isOpen(state)) return [state];
  return [{ ...state, refusal: fault }, ...forget(fault)];
}

function loaded(state: State, { now, renewInMs }: Circumstances): Step {
  const joined: State = { ...state, phase: "joined", joinedAt: now, error: null, hasReplacedToken: false };
  return [joined, { type: "settle", what: "joined" }, renewal(renewInMs)];
}

const renewal = (renewInMs: number | null): Effect =>
  timer("ask", renewInMs === null ? null : Math.min(renewInMs, MAX_TIMER_MS));

/** A token of another user or of a lower role is not requested again: this connection cannot have it. */
function refreshed(state: State, fault: Fault | null, { renewInMs }: Circumstances): Step {
  if (fault === null) return [state, renewal(renewInMs)];
  if (fault.code === "FORBIDDEN") return [state, timer("ask", null)];
  return [state, ...forget(fault), timer("ask", RENEW_AGAIN_MS)];
}

function timed(state: State, name: TimerName, around: Circumstances): Step {
  if (name === "step") {
    if (state.phase === "waiting") return start(state);
    return state.phase === "connecting" ? lose(state, IN_TIME, around) : [state];
  }
  if (name === "ping") return isOpen(state) ? ping(state, around) : [state];
  const { renewInMs } = around;
  if (needsToken(state)) return [{ ...state, retryAt: null }, ask("connect")];
  if (state.phase !== "joined") return [state];
  if (renewInMs !== null && renewInMs > 0) return [state, renewal(renewInMs)];
  return [state, ask("renew")];
}

/** Hidden pages ping once a minute, as browsers run their timers. */
function ping(state: State, around: Circumstances): Step {
  const { now, receivedAt } = around;
  if (state.ping === null) return check(state, now, PONG_LIMIT_MS);
  const { sentAt, due } = state.ping;
  if (receivedAt >= sentAt) {
    const delayMs = sentAt + PING_INTERVAL_MS - now;
    if (delayMs <= 0) return check(state, now, PONG_LIMIT_MS);
    return [{ ...state, ping: null }, timer("ping", delayMs)];
  }
  // A page that was frozen has its messages after its timers.
  return now > due + WAKE_LIMIT_MS ? check(state, now, WAKE_LIMIT_MS) : lose(state, IN_TIME, around);
}

function check(state: State, now: number, limitMs: number): Step {
  return [{ ...state, ping: { sentAt: now, due: now + limitMs } }, { type: "ping" }, timer("ping", limitMs)];
}

function wake(state: State, isBack: boolean, { now }: Circumstances): Step {
  if (state.phase === "waiting") return isBack ? start(state) : [state];
  if (!isOpen(state) || (state.ping !== null && state.ping.due <= now + WAKE_LIMIT_MS)) return [state];
  return check(state, now, WAKE_LIMIT_MS);
}

/**
 * Chromium ends the socket of a page that it keeps, and logs it as failed; other browsers may not keep the
 * page. The user has left.
 */
function shelve(state: State, around: Circumstances): Step {
  const hasSocket = isOpen(state) || state.phase === "connecting";
  if (!hasSocket || state.target === null || !around.reconnect) return [state];
  return lose(state, SHELVED, around, NORMAL_CLOSURE);
}

/** The end of a connection, or of an attempt. `code` closes the socket. */
function lose(state: State, closure: Closure, around: Circumstances, code = REPLACED): Step {
  const { now, random, reconnect, renewInMs } = around;
  const wasOpen = state.phase !== "authorizing" && state.phase !== "connecting";
  const fault = state.refusal ?? (wasOpen ? faultOf(closure) : UNREACHABLE);
  const canRetry = state.target !== null && reconnect;
  const replaces = fault.code === "UNAUTHORIZED" && renewInMs !== null && !state.hasReplacedToken;
  const decision = canRetry ? (replaces ? "soon" : planReconnect(closure)) : "never";
  if (decision === "never") return end(state, fault, state.target === null ? "idle" : "closed", fault);

  const wasStable = state.joinedAt !== null && now - state.joinedAt >= STABLE_MS;
  const attempt = (wasStable ? 0 : state.attempt) + 1;
  const delayMs = reconnectDelayMs(attempt, decision, random);
  const waiting: State = {
    ...state,
    phase: "waiting",
    attempt,
    error: fault,
    retryAt: now + delayMs,
    joinedAt: null,
    refusal: fault,
    hasReplacedToken: state.hasReplacedToken || replaces,
    ping: null,
  };
  return [waiting, ...forget(fault), ...silence(code), timer("step", delayMs)];
}

const silence = (code: number): Effect[] => [
  timer("ask", null),
  timer("step", null),
  timer("ping", null),
  { type: "drop", code },
];

function end(state: State, fault: Fault, phase: "idle" | "closed", error: Fault | null): Step {
  // The next token may have the rights, or the room, that this one lacks.
  const forgets: Effect[] = isRetryable(fault.code) ? [] : [{ type: "forgetToken" }];
  return [
    { ...IDLE, phase, error, target: phase === "closed" ? state.target : null },
    ...forgets,
    ...silence(error === null ? NORMAL_CLOSURE : REPLACED),
    { type: "stop", fault },
  ];
}

type ReconnectDecision = "soon" | "later" | "never";

/** Follows the table of close codes in docs/protocol.md. Other codes stand for a broken connection. */
export function planReconnect({ code, reason }: Closure): ReconnectDecision {
  if (code === NORMAL_CLOSURE) return "never";
  if (code === TOO_MUCH) return reason === "reader too slow" ? "soon" : "never";
  const error = codeOfClose(code);
  if (error === undefined) return "soon";
  return error === "CONFLICT" || isRetryable(error) ? "later" : "never";
}

/** Milliseconds with full jitter, so that the users of a restarted room do not reconnect at the same moment. */
export function reconnectDelayMs(attempt: number, decision: "soon" | "later", random: number): number {
  if (decision === "later") return BACKOFF.maxMs * (0.5 + random / 2);
  return backoffMs(attempt, BACKOFF, random);
}

const faultOf = ({ code, reason }: Closure): Fault => ({
  code: code === TOO_MUCH ? "VALIDATION_ERROR" : (codeOfClose(code) ?? "DISCONNECTED"),
  module: "Rooms",
  message: reason || `The connection was closed with code ${code}`,
});
