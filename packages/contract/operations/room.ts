/** Everything that a room can be asked, over sockets, REST and workflows' bindings: one entry for each. */
import type * as z from "zod";
import type { Right } from "../resources/permissions.ts";
import { COMMENT_OPERATIONS } from "./comments.ts";
import { CONNECTION_MESSAGES } from "./connection.ts";
import type { Declaration, MessageCost } from "./operation.ts";
import { PRESENCE_OPERATIONS } from "./presence.ts";
import { STORE_OPERATIONS } from "./stores.ts";
import { THREAD_OPERATIONS } from "./threads.ts";
import { USER_OPERATIONS } from "./users.ts";

const OPERATIONS = {
  ...PRESENCE_OPERATIONS,
  ...STORE_OPERATIONS,
  ...COMMENT_OPERATIONS,
  ...THREAD_OPERATIONS,
  ...USER_OPERATIONS,
} as const;
type Operations = typeof OPERATIONS;
export type OperationType = keyof Operations;

export type InputOf<Type extends OperationType> = z.infer<ReturnType<Operations[Type]["input"]>>;
export type OutputOf<Type extends OperationType> = z.infer<ReturnType<Operations[Type]["output"]>>;

export const MESSAGES = { ...CONNECTION_MESSAGES, ...OPERATIONS } as const;
type Messages = typeof MESSAGES;
/** The types of messages that a socket sends. */
export type MessageType = {
  [Type in keyof Messages]: Messages[Type]["isMessage"] extends true ? Type : never;
}[keyof Messages];

export type MessageOf<Type extends MessageType> = {
  [Each in Type]: {
    readonly type: Each;
    readonly requestId?: string | undefined;
    readonly data: z.infer<ReturnType<Messages[Each]["input"]>>;
  };
}[Type];
/** A message that a socket has sent. */
export type ClientMessage = MessageOf<MessageType>;

export const isMessageType = (type: unknown): type is MessageType =>
  typeof type === "string" && Object.hasOwn(MESSAGES, type) && MESSAGES[type as keyof Messages].isMessage;

const COSTS: {
  readonly [Type in keyof Messages]: {
    readonly cost: MessageCost<z.infer<ReturnType<Messages[Type]["input"]>>>;
  };
} = MESSAGES;

/** The cost of a message or request of this type. */
export const costOf = (type: keyof Messages): MessageCost<never> => COSTS[type].cost;

/** The rows that a message or request costs. */
export function rowsOf<Type extends keyof Messages>({
  type,
  data,
}: {
  readonly type: Type;
  readonly data: z.infer<ReturnType<Messages[Type]["input"]>>;
}): number {
  const { rows } = COSTS[type].cost;
  return typeof rows === "number" ? rows : rows(data);
}

/** Parses the `data` of a message. */
export const parseMessage = (type: MessageType, data: unknown) => MESSAGES[type].input().safeParse(data);

export const operationOf = (type: OperationType): Declaration => OPERATIONS[type];

const RIGHTS: {
  readonly [Type in OperationType]: { readonly right: Right | ((input: InputOf<Type>) => Right) };
} = OPERATIONS;

/** The right that the operation needs with this input. */
export function rightOf<Type extends OperationType>(type: Type, input: InputOf<Type>): Right {
  const { right } = RIGHTS[type];
  return typeof right === "function" ? right(input) : right;
}
