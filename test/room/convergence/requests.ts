/** The requests of a scenario's steps, each marked so that its changes can be recognized. */
import type { Comment } from "../../../src/wire/comment.ts";
import type { Client, Request } from "./client.ts";
import { COUNTER, commentChangeOf, REACTION, STORE, storeChangeOf } from "./log.ts";
import type { RequestStep } from "./steps.ts";

/** A step's request, based on what its client knows of the room. */
export function requestOf(
  step: RequestStep,
  requestId: string,
  client: Client,
  clients: readonly Client[],
): Request {
  const request = (type: string, data: Request["data"]): Request => ({ type, requestId, data });
  const value = { mark: requestId };
  switch (step.type) {
    case "set":
      return request("STORE_SET", { store: STORE, key: `k${step.key}`, value });
    case "merge": {
      const merged = { ...value, [client.userId]: requestId };
      return request("STORE_UPDATE", { store: STORE, key: `k${step.key}`, value: merged });
    }
    case "remove":
      return request("STORE_DELETE", { store: STORE, key: `k${step.key}` });
    case "increment": {
      const latest = client.seen.map(storeChangeOf).findLast((change) => change?.key === COUNTER);
      const count = (latest?.value?.count ?? 0) + 1;
      const ifVersion = latest?.version ?? 0;
      return request("STORE_SET", { store: STORE, key: COUNTER, value: { ...value, count }, ifVersion });
    }
    case "batch": {
      const set = (key: string) => ({ type: "STORE_SET", store: STORE, key, value });
      return request("STORE_BATCH", { operations: [set("k0"), set("k1"), set(`b${client.userId}`)] });
    }
    case "comment":
      return request("COMMENT_CREATE", { text: requestId });
    case "edit": {
      const commentId = findComment(client, client.userId)?.id;
      if (commentId === undefined) return request("COMMENT_CREATE", { text: requestId });
      return request("COMMENT_UPDATE", { commentId, text: requestId });
    }
    case "react": {
      const commentId = findComment(client, null)?.id;
      if (commentId === undefined) return request("COMMENT_CREATE", { text: requestId });
      return request("COMMENT_REACT", { commentId, reaction: REACTION });
    }
    case "follow":
    case "unfollow": {
      const others = clients.filter((other) => other !== client);
      const whom = others[step.whom % others.length]?.userId;
      return request(step.type === "follow" ? "USER_FOLLOW" : "USER_UNFOLLOW", { userId: whom });
    }
  }
}

/** The first comment that the client knows of, by one author or by anyone. */
function findComment({ seen }: Client, author: string | null): Comment | undefined {
  const comments = seen.flatMap((change) => commentChangeOf(change)?.comment ?? []);
  return comments.find(({ user_id }) => author === null || user_id === author);
}
