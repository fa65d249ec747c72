/** The service's side of the bindings, typed with the resources that it returns. */

import type { UploadResult } from "../../features/files/schema.ts";
import type { StorageFile } from "../../wire/file.ts";
import type { Room } from "../../wire/room.ts";
import type { User } from "../../wire/user.ts";
import type { BindingAnswer, HostBindings } from "../runners/runner.ts";
import type { RoomDocument } from "./types.ts";

/** The service's side of the bindings, with the types of the resources that it returns. */
export interface TypedHostBindings extends HostBindings {
  roomGet(): Promise<BindingAnswer<Room | null>>;
  roomGetUsers(): Promise<BindingAnswer<User[]>>;
  documentsList(): Promise<BindingAnswer<RoomDocument[]>>;
  filesList(filter: unknown): Promise<BindingAnswer<StorageFile[]>>;
  filesGet(key: unknown): Promise<BindingAnswer<(StorageFile & { readonly data: ArrayBuffer }) | null>>;
  filesPut(name: unknown, bytes: unknown, type: unknown): Promise<BindingAnswer<UploadResult>>;
}

/** The port does not know the resources, so that the sandbox's runners depend on no feature. */
export const withTypes = (host: HostBindings): TypedHostBindings => host as TypedHostBindings;
