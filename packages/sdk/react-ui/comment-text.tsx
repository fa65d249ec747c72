/** The text of a comment, with mentions and links, and the attached files below it. */
import type { ReactNode } from "react";
import type { Comment, Mention } from "../client/index.ts";
import { useRoom, useUsers } from "../react/index.ts";
import { type GroupResolver, useResolved } from "./resolve.ts";
import {
  type AttachedFile,
  type FileResolver,
  fileResolver,
  type Part,
  partsOf,
  withoutFiles,
} from "./text-parts.ts";
import { useTexts } from "./texts.ts";

const PICTURE = /\.(avif|gif|jpe?g|png|webp)$/i;

export const isPicture = ({ name }: Pick<AttachedFile, "name">): boolean => PICTURE.test(name);

/** The addresses of files as this client reads them, which may have another one than their authors: known in the room. */
export function useFileResolver(): FileResolver {
  const { client, room } = useRoom();
  return fileResolver((key) => room && client.storage.getUrl({ key }));
}

interface NamedMention {
  readonly mention: string | Mention;
  /** Undefined while it is unknown. */
  readonly name: string | undefined;
}

/** The users, identities and groups that a comment mentions, with the names of users of the room and of groups. */
export function useMentions(
  { mentions, mentioned = [] }: Pick<Comment, "mentions" | "mentioned">,
  resolveGroup: GroupResolver | undefined,
): readonly NamedMention[] {
  const users = useUsers(mentions);
  const groupIds = mentioned.filter(({ kind }) => kind === "group").map(({ id }) => id);
  const groups = useResolved(resolveGroup, groupIds, (id) => id);
  return [
    ...mentions.map((userId, index) => ({ mention: userId, name: users[index]?.name })),
    ...mentioned.map((mention) => ({ mention, name: groups[groupIds.indexOf(mention.id)]?.name })),
  ];
}

interface CommentTextProps extends Pick<Comment, "text" | "mentions" | "mentioned"> {
  /** Finds the names of mentioned groups. */
  readonly resolveGroup?: GroupResolver | undefined;
}

export function CommentText({ text: whole, resolveGroup, ...comment }: CommentTextProps): ReactNode {
  const texts = useTexts();
  const resolve = useFileResolver();
  const { text, files } = withoutFiles(whole, resolve);
  const names = useMentions(comment, resolveGroup).flatMap(({ name }) => name ?? []);
  const show = (part: Part, index: number): ReactNode => {
    const key = index; // parts have no names of their own
    if (part.type === "text") return part.text;
    if (part.type === "mention")
      return (
        <span key={key} className="atrium-mention">
          {part.text}
        </span>
      );
    return (
      <Link key={key} href={part.url}>
        {part.text}
      </Link>
    );
  };
  return (
    <>
      {text !== "" && (
        <p className="atrium-text" dir="auto">
          {partsOf(text, names, resolve).map(show)}
        </p>
      )}
      {files.length > 0 && (
        <ul className="atrium-files" aria-label={texts.files}>
          {files.map(({ name, url, line }) => {
            const isShown = isPicture({ name }) && url !== "";
            return (
              <li key={line}>
                <Link href={url} className={isShown ? "atrium-picture" : undefined}>
                  {isShown ? <img src={url} alt={name} loading="lazy" /> : name}
                </Link>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}

interface LinkProps {
  /** Empty while it is unknown. */
  readonly href: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

const Link = ({ href, className, children }: LinkProps) => (
  <a href={href || undefined} className={className} target="_blank" rel="noopener noreferrer nofollow">
    {children}
  </a>
);
