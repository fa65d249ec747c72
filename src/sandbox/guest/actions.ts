/** The actions as a program sees them: each goes to the service with its arguments as JSON. */
import type { Comment } from "../../wire/comment.ts";
import type { HostBindings } from "../runners/runner.ts";
import type { Calls } from "./calls.ts";
import { freeze, stringify } from "./intrinsics.ts";
import type { ActionsBinding, BroadcastAction, CommentAction } from "./types.ts";

export function openActions(calls: Calls, host: HostBindings): ActionsBinding {
  // The service answers each action with what its type says.
  const act = async <Answer>(action: string, args: object): Promise<Answer> => {
    const json = stringify(args);
    return (await calls.make(() => host.act(action, json))) as Answer;
  };
  return freeze({
    stores: freeze({
      set: (store: string, key: string, value: unknown) =>
        act<{ version: number; seq: number }>("stores.set", { store, key, value }),
      delete: async (store: string, key: string) => {
        await act("stores.delete", { store, key });
      },
    }),
    comments: freeze({
      create: async (comment: CommentAction) =>
        (await act<{ comment: Comment }>("comments.create", comment)).comment,
      resolve: async (commentId: string, resolved = true) =>
        (await act<{ comment: Comment }>("comments.resolve", { commentId, resolved })).comment,
    }),
    broadcasts: freeze({
      send: (message: BroadcastAction) => act<{ delivered: number }>("broadcasts.send", message),
    }),
  });
}
