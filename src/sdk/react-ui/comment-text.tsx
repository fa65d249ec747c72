/** The text of a comment, with mentions and links, and the attached files below it. */
import type { ReactNode } from "react";
import type { Comment, Mention } from "../client/index.ts";
import { useRoom } from "../react/index.ts";
import { type AttachedFile, type Part, partsOf, withoutFiles } from "./mentions.ts";
import { type GroupResolver, useResolved } from "./resolve.ts";
import { useTexts } from "./texts.ts";

const PICTURE = /\.(avif|gif|jpe?g|png|webp)$/i;

export const isPicture = ({ name }: Pick<AttachedFile, "name">): boolean => PICTURE.test(name);

/** Whether an address is that of a file of the room. */
export function useIsFile(): (url: string) => boolean {
  const files = useRoom().client.storage.getUrl({ key: "" });
  return (url) => url.startsWith(files);
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
  const { users } = useRoom().client;
  const groupIds = mentioned.filter(({ kind }) => kind === "group").map(({ id }) => id);
  const groups = useResolved(resolveGroup, groupIds, (id) => id);
  return [
    ...mentions.map((userId) => ({ mention: userId, name: users.get({ userId })?.name })),
    ...mentioned.map((mention) => ({ mention, name: groups[groupIds.indexOf(mention.id)]?.name })),
  ];
}

interface CommentTextProps extends Pick<Comment, "text" | "mentions" | "mentioned"> {
  /** Finds the names of mentioned groups. */
  readonly resolveGroup?: GroupResolver | undefined;
}

export function CommentText({ text: whole, resolveGroup, ...comment }: CommentTextProps): ReactNode {
  const texts = useTexts();
  const isFile = useIsFile();
  const { text, files } = withoutFiles(whole, isFile);
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
          {partsOf(text, names, isFile).map(show)}
        </p>
      )}
      {files.length > 0 && (
        <ul className="atrium-files" aria-label={texts.files}>
          {files.map(({ name, url }) => (
            <li key={url}>
              <Link href={url}>
                {isPicture({ name }) ? <img src={url} alt={name} loading="lazy" /> : name}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const Link = ({ href, children }: { readonly href: string; readonly children: ReactNode }) => (
  <a href={href} target="_blank" rel="noopener noreferrer nofollow">
    {children}
  </a>
);
