/** The words of the components, which an application translates or changes. */
import { createContext, createElement, type ReactNode, useContext, useMemo } from "react";
import type { User } from "../client/index.ts";
import { defined, type SomeOf } from "../core/json.ts";
import type { SuggestedPart, Suggestion } from "../wire/resources.ts";

/**
 * Every text of the components. Functions get the subject of a sentence, so that it fits the number and the
 * order of words.
 */
export interface Texts {
  /** The time of a comment. */
  readonly time: (date: Date) => string;
  /** The message of a failure for the user. */
  readonly failed: (error: Error) => string;
  readonly deletedUser: string;
  /** Label beside the name of a user who is no person: a program, or a guest who came by a link. */
  readonly kind: (kind: NonNullable<User["kind"]>) => string;
  readonly onlineUsers: string;
  /** The users for whom there is no avatar. */
  readonly moreUsers: (names: readonly string[]) => string;
  /** Label beside the pointer of a user whom this user follows. */
  readonly following: (name: string) => string;
  readonly connected: string;
  readonly connecting: string;
  readonly reconnecting: string;
  readonly disconnected: string;
  readonly saving: string;
  /** Changes wait for a connection. */
  readonly waiting: string;
  readonly thread: (comments: number) => string;
  readonly resolved: string;
  readonly resolve: string;
  readonly reopen: string;
  readonly comment: string;
  readonly reply: string;
  readonly edit: string;
  readonly delete: string;
  readonly confirmDelete: string;
  readonly save: string;
  readonly cancel: string;
  readonly send: string;
  readonly sending: string;
  readonly addReaction: string;
  /** A reaction with the names of the users who chose it. */
  readonly reaction: (emoji: string, names: readonly string[]) => string;
  readonly insertEmoji: string;
  readonly mentions: string;
  /** How many users match what follows the `@`. */
  readonly matches: (users: number) => string;
  readonly attach: string;
  /** The list of a comment's files. */
  readonly files: string;
  readonly uploading: (name: string, percent: number) => string;
  readonly remove: (name: string) => string;
  readonly close: string;
  /** The button that lets a user place a comment on a canvas, the place to click, and the comment that is written there. */
  readonly addComment: string;
  readonly placeComment: string;
  readonly newComment: string;
  /** A thread on a canvas, by the author of its first comment. */
  readonly pin: (author: string, comments: number, isUnread: boolean) => string;
  /** How to move a pin by keyboard, and that it was moved. */
  readonly movePin: string;
  readonly pinMoved: string;
  readonly versions: string;
  readonly noVersions: string;
  readonly showChanges: string;
  readonly noChanges: string;
  readonly restore: string;
  readonly confirmRestore: string;
  readonly restored: string;
  /** The document shows the version's content, and was not changed. */
  readonly sameAsNow: string;
  readonly suggestions: string;
  readonly noSuggestions: string;
  /** A suggestion without a title. */
  readonly untitledSuggestion: string;
  /** Author or reviewer who is no user of the room. */
  readonly authorKind: (type: Exclude<Suggestion["author"]["type"], "user">) => string;
  /** State of a suggestion; once it is reviewed, with the reviewer's name. */
  readonly suggestionStatus: (status: Suggestion["status"], reviewer: string | null) => string;
  /** The changes of a suggestion, each with a checkbox. */
  readonly suggestedChanges: string;
  readonly noSuggestedChanges: string;
  /** State of a change that was decided, or cannot be accepted any more. */
  readonly changeState: (state: Exclude<SuggestedPart["state"], "pending">) => string;
  readonly accept: string;
  readonly acceptSelected: string;
  readonly reject: string;
  readonly confirmReject: string;
  readonly withdraw: string;
  readonly confirmWithdraw: string;
  readonly suggestionAccepted: string;
  readonly suggestionRejected: string;
  readonly suggestionWithdrawn: string;
  /** Its author has changed the suggestion that is shown. */
  readonly suggestionChanged: string;
  readonly chooseAgain: string;
  readonly inbox: string;
  readonly unread: string;
  readonly unreadNotifications: (count: number) => string;
  readonly noNotifications: string;
  readonly notificationDeleted: string;
  readonly undo: string;
  readonly markAsRead: string;
  readonly markAllAsRead: string;
  readonly showOlder: string;
  readonly loading: string;
  readonly tryAgain: string;
  /**
   * New comments of these people in a thread: the people whom the application resolves. Null for a room that it
   * does not resolve.
   */
  readonly commented: (names: readonly string[], room: string | null) => string;
  /** A mention in a document. */
  readonly mentionedYou: (names: readonly string[], room: string | null) => string;
}

const some = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** Three names, or two and the number of all others. */
function listed(names: readonly string[]): string {
  const others = names.length - 2;
  const shown = others > 1 ? [...names.slice(0, 2), `${others} others`] : names;
  return [shown.slice(0, -1).join(", "), ...shown.slice(-1)].filter((part) => part !== "").join(" and ");
}

const inRoom = (room: string | null): string => (room === null ? "" : ` in ${room}`);

const ENGLISH: Texts = {
  time: (date) => date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }),
  failed: (error) => error.message,
  deletedUser: "Deleted user",
  kind: (kind) => ({ agent: "Agent", guest: "Guest" })[kind],
  onlineUsers: "Online users",
  moreUsers: (names) => `${names.length} more: ${names.join(", ")}`,
  following: (name) => `Following ${name}`,
  connected: "Connected",
  connecting: "Connecting…",
  reconnecting: "Reconnecting…",
  disconnected: "Disconnected",
  saving: "Saving…",
  waiting: "Your changes will be sent.",
  thread: (comments) => `Thread of ${some(comments, "comment", "comments")}`,
  resolved: "Resolved",
  resolve: "Resolve",
  reopen: "Reopen",
  comment: "Comment",
  reply: "Reply",
  edit: "Edit",
  delete: "Delete",
  confirmDelete: "Delete this comment?",
  save: "Save",
  cancel: "Cancel",
  send: "Send",
  sending: "Sending…",
  addReaction: "Add reaction",
  reaction: (emoji, names) => `${emoji} ${names.length}, by ${names.join(", ")}`,
  insertEmoji: "Insert emoji",
  mentions: "Users to mention",
  matches: (users) => `${some(users, "user", "users")}. Choose with the arrow keys and Enter.`,
  attach: "Attach files",
  files: "Attached files",
  uploading: (name, percent) => `${name}, ${percent} %`,
  remove: (name) => `Remove ${name}`,
  close: "Close",
  addComment: "Add a comment",
  placeComment: "Click where the comment belongs",
  newComment: "New comment",
  pin: (author, comments, isUnread) =>
    `Thread by ${author}, ${some(comments, "comment", "comments")}${isUnread ? ", unread" : ""}`,
  movePin: "Arrow keys move it, with Shift by single pixels.",
  pinMoved: "Moved",
  versions: "Versions",
  noVersions: "There are no versions yet.",
  showChanges: "Show changes",
  noChanges: "This version looks like the one before.",
  restore: "Restore",
  confirmRestore: "Restore this version for everyone?",
  restored: "The document was restored.",
  sameAsNow: "The document looks like this version already.",
  suggestions: "Suggestions",
  noSuggestions: "There are no suggestions.",
  untitledSuggestion: "Suggestion",
  authorKind: (type) =>
    ({
      key: "API key",
      person: "Member of the organization",
      workflow: "Workflow",
      organization: "Organization",
    })[type],
  suggestionStatus: (status, reviewer) =>
    ({ pending: "Pending", stale: "Out of date", approved: "Accepted", rejected: "Rejected" })[status] +
    (reviewer === null ? "" : ` by ${reviewer}`),
  suggestedChanges: "Suggested changes",
  noSuggestedChanges: "Nothing is changed yet.",
  changeState: (state) =>
    ({ stale: "Out of date: the text is gone", accepted: "Accepted", rejected: "Rejected" })[state],
  accept: "Accept",
  acceptSelected: "Accept selected",
  reject: "Reject",
  confirmReject: "Reject all of these changes?",
  withdraw: "Withdraw",
  confirmWithdraw: "Withdraw this suggestion?",
  suggestionAccepted: "The changes were accepted.",
  suggestionRejected: "The suggestion was rejected.",
  suggestionWithdrawn: "The suggestion was withdrawn.",
  suggestionChanged: "The suggestion has changed.",
  chooseAgain: "Choose again",
  inbox: "Notifications",
  unread: "Unread",
  unreadNotifications: (count) => (count === 0 ? "All read" : `${count} unread`),
  noNotifications: "There are no notifications.",
  notificationDeleted: "Notification deleted",
  undo: "Undo",
  markAsRead: "Mark as read",
  markAllAsRead: "Mark all as read",
  showOlder: "Show older",
  loading: "Loading…",
  tryAgain: "Try again",
  commented: (names, room) =>
    (names.length === 0 ? "New comments" : `${listed(names)} commented`) + inRoom(room),
  mentionedYou: (names, room) =>
    (names.length === 0 ? "You were mentioned" : `${listed(names)} mentioned you`) + inRoom(room),
};

const TextsContext = /* @__PURE__ */ createContext<Texts>(ENGLISH);

interface AtriumTextsProps {
  /** The texts to replace; all others stay as they are around this provider, and are in English by default. */
  readonly texts: SomeOf<Texts>;
  readonly children?: ReactNode;
}

/** Translates the components inside of it. */
export function AtriumTexts({ texts, children }: AtriumTextsProps): ReactNode {
  const outer = useContext(TextsContext);
  const value = useMemo(() => ({ ...outer, ...defined(texts) }) as Texts, [outer, texts]);
  return createElement(TextsContext.Provider, { value }, children);
}

export const useTexts = (): Texts => useContext(TextsContext);
