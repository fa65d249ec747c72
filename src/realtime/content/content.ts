/** The room's lasting content, made of its parts: all of them log what they change. */
import { Changes } from "./changes.ts";
import { type CommentPorts, Comments } from "./comments.ts";
import { Follows } from "./follows.ts";
import { Stores } from "./stores.ts";

export interface RoomContent {
  readonly changes: Changes;
  readonly stores: Stores;
  readonly comments: Comments;
  readonly follows: Follows;
}

export function openContent(ports: CommentPorts): RoomContent {
  const { storage } = ports;
  const changes = new Changes(storage, () => ports.now());
  return {
    changes,
    stores: new Stores(storage, changes),
    comments: new Comments(ports, changes),
    follows: new Follows(storage, changes),
  };
}
