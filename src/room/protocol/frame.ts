/** Text frames of the server: serializes responses and events. */

import { passingReason } from "../../platform/objects/rpc.ts";
import type { Fault, Response, ServerMessage } from "./protocol.ts";

/** `data` of a message, or a field of it, that is JSON text already: it is sent without being parsed. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The JSON of an object. Fields that are JSON text are inserted as they are; undefined ones are left out. */
  static of(fields: Readonly<Record<string, unknown>>): JsonText {
    let members = "";
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      const text = value instanceof JsonText ? value.text : JSON.stringify(value);
      members += `${members === "" ? "" : ","}${JSON.stringify(name)}:${text}`;
    }
    return new JsonText(`{${members}}`);
  }
}

/** The room's messages. Presence is text already. */
export type Sendable =
  | ServerMessage
  | { readonly type: "event"; readonly event: "presence"; readonly data: JsonText };

export const serialize = (message: Sendable): string =>
  message.data instanceof JsonText ? JsonText.of({ ...message }).text : JSON.stringify(message);

/** Answer to an unexpected failure; the log has the cause. */
export const INTERNAL_FAULT: Fault = {
  module: "Server",
  code: "INTERNAL_ERROR",
  message: "Something went wrong on our side",
};

/** Answer to a failure that is not the client's: one that passes has its reason, so that clients wait and send again. */
export function faultOf(error: unknown): Fault {
  const reason = passingReason(error);
  return reason === null ? INTERNAL_FAULT : { module: "Server", code: "RATE_LIMITED", message: reason };
}

/** Refusal when the user's budget, or the room's, is spent. */
export const TOO_MUCH: Fault = {
  module: "Rooms",
  code: "RATE_LIMITED",
  message: "Too many requests are waiting; send this again after some of them are answered",
};

const echo = (requestId: string | undefined) => (requestId === undefined ? {} : { requestId });

export const success = (description: string, data: object, requestId?: string): Response => ({
  type: "response",
  success: true,
  description,
  data,
  error: null,
  ...echo(requestId),
});

export const failure = ({ module, code, message }: Fault, requestId?: string): Response => ({
  type: "response",
  success: false,
  description: message,
  data: {},
  error: { module, code, message },
  ...echo(requestId),
});
