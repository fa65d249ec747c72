/** The text of a comment, with mentions, links and attached files. */
import type { ReactNode } from "react";
import type { Comment } from "../client/index.ts";
import { useRoom } from "../react/index.ts";
import { type Part, partsOf } from "./mentions.ts";

const PICTURE = /\.(avif|gif|jpe?g|png|webp)$/i;

export function CommentText({ text, mentions }: Pick<Comment, "text" | "mentions">): ReactNode {
  const { users, storage } = useRoom().client;
  const files = storage.getUrl({ key: "" });
  const isFile = (url: string) => url.startsWith(files);
  const names = mentions.flatMap((userId) => users.get({ userId })?.name ?? []);
  const parts = partsOf(text, names, isFile);
  const show = (part: Part, index: number): ReactNode => {
    const key = index; // parts have no names of their own
    if (part.type === "text") return part.text;
    if (part.type === "mention")
      return (
        <span key={key} className="atrium-mention">
          {part.text}
        </span>
      );
    const isPicture = isFile(part.url) && PICTURE.test(part.text);
    return (
      <a key={key} href={part.url} target="_blank" rel="noopener noreferrer nofollow">
        {isPicture ? <img src={part.url} alt={part.text} loading="lazy" /> : part.text}
      </a>
    );
  };
  return (
    <p className="atrium-text" dir="auto">
      {parts.map(show)}
    </p>
  );
}
