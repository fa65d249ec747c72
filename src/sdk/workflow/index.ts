/** `atrium/workflow`: the types of a workflow and of its bindings. There is no code behind them. */
export type {
  ActionsBinding,
  Bindings,
  BroadcastAction,
  BroadcastActions,
  CommentAction,
  CommentActions,
  DocumentContent,
  DocumentsBinding,
  EventOf,
  FileContent,
  FileFilter,
  FilesBinding,
  FileWithContent,
  RoomBinding,
  RoomDocument,
  StoreActions,
  StoreBinding,
  Workflow,
} from "../../sandbox/guest/types.ts";
export type { WorkflowEvent } from "../../wire/workflow-events.ts";
export type {
  AtriumEvent,
  EventName,
  Room,
  StorageFile,
  UploadResult,
  User,
  WorkflowEventName,
} from "../wire/resources.ts";
