/** The state machine of the connection: whatever happens in whatever order, it has one socket and a next step. */
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type Effect,
  type Event,
  IDLE,
  type State,
  step,
  type TimerName,
} from "../../../packages/sdk/client/connection/machine.ts";

const fault = (code: string) => ({ code, module: "Auth", message: code });
const FAULTS = ["UNAUTHORIZED", "FORBIDDEN", "CONNECTION_FAILED", "NOT_FOUND"].map(fault);
const CODES = [1000, 1006, 1011, 4400, 4401, 4403, 4404, 4413, 4429];

/** Events of an application, a network and a service; impossible ones are skipped. */
const happening = fc.oneof(
  fc
    .constantFrom("connect", "disconnect", "join", "opened", "loaded", "null", "token", "pass", "shelved")
    .map((name) => ({ name })),
  fc
    .constantFrom("tokenFailed", "refused", "refreshed")
    .chain((name) => fc.constantFrom(...FAULTS).map((of) => ({ name, of }))),
  fc.constantFrom(...CODES).map((code) => ({ name: "lost", code })),
  fc.boolean().map((isBack) => ({ name: "wake", isBack })),
);

interface Happening {
  readonly name: string;
  readonly of?: (typeof FAULTS)[number];
  readonly code?: number;
  readonly isBack?: boolean;
}

/** The world around the machine, which keeps the pending effects. */
class MachineFixture {
  state: State = IDLE;
  now = 0;
  receivedAt = -Infinity;
  socket: "opening" | "open" | null = null;
  isAsking = false;
  isRefreshing = false;
  /** The code that closed the latest socket. */
  dropped: number | null = null;
  readonly timers = new Map<TimerName, number>();
  readonly stops: string[] = [];

  readonly reconnect: boolean;

  constructor(reconnect: boolean) {
    this.reconnect = reconnect;
  }

  eventOf({
    name,
    of = FAULTS[0] as (typeof FAULTS)[number],
    code = 1006,
    isBack = true,
  }: Happening): Event | null {
    switch (name) {
      case "connect":
      case "disconnect":
      case "shelved":
        return { type: name };
      case "join":
        return { type: "join" };
      case "opened":
        return this.socket === "opening" ? { type: name } : null;
      case "loaded":
        return this.socket === "open" ? { type: name } : null;
      case "token":
      case "null":
        return this.isAsking ? { type: "token", token: name === "null" ? null : "token" } : null;
      case "tokenFailed":
        return this.isAsking ? { type: name, fault: of } : null;
      case "refused":
        return this.socket === "open" ? { type: name, fault: of } : null;
      case "refreshed":
        return this.isRefreshing ? { type: name, fault: of } : null;
      case "lost":
        return this.socket === null ? null : { type: name, closure: { code, reason: "" } };
      case "wake":
        return { type: name, isBack };
      default:
        return this.#nextTimer();
    }
  }

  #nextTimer(): Event | null {
    const [next] = [...this.timers].sort(([, a], [, b]) => a - b);
    if (next === undefined) return null;
    this.timers.delete(next[0]);
    this.now = Math.max(this.now, next[1]);
    return { type: "timer", name: next[0] };
  }

  dispatch(event: Event): void {
    if (event.type === "token" || event.type === "tokenFailed") this.isAsking = false;
    if (event.type === "opened") this.socket = "open";
    const around = {
      now: this.now,
      random: 0.5,
      receivedAt: this.receivedAt,
      renewInMs: 100_000,
      reconnect: this.reconnect,
    };
    const [state, ...effects] = step(this.state, event, around);
    this.state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: Effect): void {
    if (effect.type === "open") {
      expect(this.socket).toBeNull();
      this.socket = "opening";
    } else if (effect.type === "join" || effect.type === "ping") expect(this.socket).toBe("open");
    else if (effect.type === "askToken") this.isAsking = true;
    else if (effect.type === "refresh") this.isRefreshing = true;
    else if (effect.type === "drop") {
      [this.socket, this.isAsking, this.isRefreshing] = [null, false, false];
      this.dropped = effect.code;
    } else if (effect.type === "stop") this.stops.push(effect.fault.code);
    else if (effect.type === "timer" && effect.delayMs === null) this.timers.delete(effect.name);
    else if (effect.type === "timer") this.timers.set(effect.name, this.now + Number(effect.delayMs));
  }

  /** Invariants between any two events. */
  check(): void {
    const { phase, error, attempt, retryAt, target } = this.state;
    const hasSocket = { connecting: "opening", open: "open", joining: "open", joined: "open" }[
      phase as string
    ];
    expect([phase, this.socket]).toEqual([phase, hasSocket ?? null]);
    const timers = [...this.timers.keys()];
    if (phase === "idle" || phase === "closed") expect([timers, this.isAsking]).toEqual([[], false]);
    else expect(timers.length > 0 || this.isAsking).toBe(true);
    if (phase === "authorizing") expect(this.isAsking || this.timers.has("ask")).toBe(true);
    if (phase === "connecting") expect(timers).toContain("step");
    if (this.socket === "open") expect(timers).toContain("ping");
    if (phase === "waiting")
      expect([this.reconnect, attempt > 0, error !== null, target !== null, retryAt]).toEqual([
        ...[true, true, true, true],
        this.timers.get("step"),
      ]);
    if (phase === "joined") expect(error).toBeNull();
  }
}

it("has one socket where its phase has one, and something that it waits for, after any events", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(happening, { maxLength: 60 }), (reconnect, happenings) => {
      const world = new MachineFixture(reconnect);
      for (const each of happenings) {
        const event = world.eventOf(each);
        if (event === null) continue;
        world.dispatch(event);
        world.check();
      }
    }),
    { numRuns: 2_000 },
  );
});

it("joins after any events once the network and the service are well and join() is called", () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      const world = new MachineFixture(true);
      for (const each of happenings) {
        const event = world.eventOf(each);
        if (event !== null) world.dispatch(event);
      }
      world.dispatch({ type: "join" });
      for (let turn = 0; turn < 20 && world.state.phase !== "joined"; turn += 1) {
        if (world.isAsking) world.dispatch({ type: "token", token: "token" });
        else if (world.socket === "opening") world.dispatch({ type: "opened" });
        else if (world.state.phase === "joining") world.dispatch({ type: "loaded" });
        else {
          const event = world.eventOf({ name: "pass" });
          if (event !== null) world.dispatch(event);
        }
      }
      expect(world.state).toMatchObject({ phase: "joined", error: null });
    }),
    { numRuns: 2_000 },
  );
});

it.each(["connecting", "joining", "joined"])(
  "has no socket once a page is left that may come back, while it is %s, and joins at once when it does",
  (phase) => {
    const world = new MachineFixture(true);
    const isThere = () => world.state.phase === phase;
    const goOn: Event[] = [
      { type: "join" },
      { type: "token", token: "token" },
      { type: "opened" },
      { type: "token", token: "token" },
      { type: "loaded" },
    ];
    for (const event of goOn) if (!isThere()) world.dispatch(event);
    world.dispatch({ type: "shelved" });
    world.check();
    expect([world.state.phase, world.socket, world.dropped]).toEqual(["waiting", null, 1000]);
    world.dispatch({ type: "wake", isBack: true });
    expect(world.state.phase).toBe("authorizing");
  },
);

it("keeps its socket when such a page is left, if it would not connect again", () => {
  const world = new MachineFixture(false);
  for (const type of ["join", "token", "opened", "shelved"] as const)
    world.dispatch(type === "token" ? { type, token: "token" } : { type });
  expect([world.state.phase, world.socket]).toEqual(["joining", "open"]);
});
