/** Operations of a live room: each is declared once, with all that sockets, REST, workflows and the engine know of it. */
import type * as z from "zod";
import type { Right } from "../resources/permissions.ts";

/** The cost of a message to its room, beside its frame and deliveries. */
export interface MessageCost<Input> {
  /** Points: one is about the cost of one row of the room's storage. */
  readonly rows: number | ((input: Input) => number);
  /** Reads of the database. */
  readonly reads: number;
  /** The fate of a message that its user cannot afford. */
  readonly excess: "runs" | "waits" | "refused" | "follows";
  /** The answer may be large, so it waits while its sender has much to read. */
  readonly isExpensiveRead: boolean;
}

export const FREE = { rows: 0, reads: 0, excess: "runs", isExpensiveRead: false } as const;
export const WRITE = { rows: 3, reads: 0, excess: "waits", isExpensiveRead: false } as const;
/** Defaults of an operation that makes lasting changes at the cost of a write. */
export const LASTING = { cost: WRITE, isLasting: true } as const;

/** The cost of an expensive read whose answer has this many rows. */
export const expensiveRead = <Input>(
  rows: number | ((input: Input) => number),
  reads = 0,
): MessageCost<Input> => ({
  rows,
  reads,
  excess: "waits",
  isExpensiveRead: true,
});

/** The points of one read of the database. */
export const POINTS_PER_READ = 200;

/** A message of a socket. Schemas are made when they are first used: an isolate that never does pays nothing. */
export interface Message<Input extends z.ZodType> {
  readonly input: () => Input;
  readonly cost: MessageCost<z.infer<Input>>;
}

export interface Operation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** The `description` of the response to a success. */
  readonly done: string;
  readonly input: () => Input;
  readonly output: () => Output;
  readonly right: Right | ((input: z.infer<Input>) => Right);
  /** Cost of a message, and of a user's request over REST. */
  readonly cost: MessageCost<z.infer<Input>>;
  /** Whether sockets offer it, as a message of its type. */
  readonly isMessage: boolean;
  /** True if it can make lasting changes: it runs in one transaction, and once per request ID. */
  readonly isLasting: boolean;
  /** True if its success is an event for subscribers. */
  readonly isReported: boolean;
}

/** The facts of an operation beside its input and output. */
export type Declaration = Pick<Operation, "done" | "isLasting" | "isReported">;

/** An operation as it is declared: one that reads, unless it says otherwise. */
type Declared<Input extends z.ZodType, Output extends z.ZodType> = Omit<
  Operation<Input, Output>,
  "isMessage" | "isLasting" | "isReported"
> & { readonly isLasting?: boolean; readonly isReported?: boolean };

/** Declares an operation that sockets offer, as a message of its type. */
export const operation = <Input extends z.ZodType, Output extends z.ZodType>(
  declared: Declared<Input, Output>,
): Operation<Input, Output> & { readonly isMessage: true } => ({
  isLasting: false,
  isReported: false,
  ...declared,
  isMessage: true,
  input: lazily(declared.input),
});

/** Declares an operation that no socket offers; REST uses it. */
export const innerOperation = <Input extends z.ZodType, Output extends z.ZodType>(
  declared: Declared<Input, Output>,
): Operation<Input, Output> & { readonly isMessage: false } => ({
  isLasting: false,
  isReported: false,
  ...declared,
  isMessage: false,
});

/** Declares a message about the connection itself. */
export const message = <Input extends z.ZodType>(
  declared: Message<Input>,
): Message<Input> & { readonly isMessage: true } => ({
  ...declared,
  isMessage: true,
  input: lazily(declared.input),
});

/** The first call makes the value, and the others return it. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
