/** The buttons and the dialog that create a comment, or a reply to one, on behalf of a user. */
import type { User } from "atrium/server";
import { useState } from "react";
import { Button, type ButtonProps } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, TextArea } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { useCreateComment } from "./use-comments.ts";

export interface NewCommentProps {
  readonly roomId: string;
  readonly users: readonly User[];
}

export interface ReplyProps extends NewCommentProps {
  readonly threadId: string;
  /** Whose comment is replied to. */
  readonly author: string;
}

export const NewComment = (props: NewCommentProps) => (
  <CommentDialog
    {...props}
    title="New comment"
    submitLabel="Create comment"
    button={{ icon: "plus", "data-shortcut": "new", children: "New comment" }}
  />
);

export const Reply = ({ author, ...props }: ReplyProps) => (
  <CommentDialog
    {...props}
    title={`Reply to ${author}`}
    submitLabel="Send reply"
    button={{ variant: "quiet", "aria-label": `Reply to ${author}`, children: "Reply" }}
  />
);

interface CommentDialogProps extends NewCommentProps {
  readonly threadId?: string;
  readonly title: string;
  readonly submitLabel: string;
  readonly button: ButtonProps & { readonly "data-shortcut"?: string };
}

function CommentDialog({ roomId, users, threadId, title, submitLabel, button }: CommentDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const write = useCreateComment(roomId);
  const close = () => {
    setOpen(false);
    write.reset();
  };
  return (
    <>
      <Button {...button} disabled={users.length === 0} onClick={() => setOpen(true)} />
      <Dialog
        title={title}
        about="Creates a comment on behalf of a user, as your back end can."
        isOpen={isOpen}
        onClose={close}
      >
        <Form
          submitLabel={submitLabel}
          error={write.error}
          isBusy={write.isPending}
          onCancel={close}
          onSubmit={({ userId = "", text = "" }) =>
            write.mutate({ userId, text, ...(threadId && { threadId }) }, { onSuccess: close })
          }
        >
          <SelectField label="User" name="userId">
            {users.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
          <TextArea label="Text" name="text" required rows={4} />
        </Form>
      </Dialog>
    </>
  );
}
