/** What a person does: it is said when it is done, and what it may have changed is asked for again. */
import { Toast } from "@base-ui/react/toast";
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { adviceOn } from "./advice.ts";

export interface ActOptions<Result> {
  /** What to say when it is done; nothing for what is seen anyway. */
  readonly done?: string | ((result: Result) => string);
  /** Whether what was done has come to nothing after all. */
  readonly isFailure?: (result: Result) => boolean;
  /** The beginnings of the keys of what it may have changed. */
  readonly touches?: readonly QueryKey[];
  /** The form that it belongs to shows the error itself. */
  readonly isForm?: boolean;
}

export function useAct<Result, Input = void>(
  act: (input: Input) => Promise<Result>,
  { done, isFailure = () => false, touches = [], isForm = false }: ActOptions<Result> = {},
) {
  const queries = useQueryClient();
  const notices = Toast.useToastManager();
  return useMutation({
    mutationFn: act,
    onSuccess: async (result) => {
      if (done !== undefined) {
        const title = typeof done === "string" ? done : done(result);
        notices.add({ title, ...(isFailure(result) && { type: "error" }) });
      }
      await Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
    onError: (error) => {
      if (isForm) return;
      notices.add({ title: error.message, description: adviceOn(error), type: "error", priority: "high" });
    },
  });
}
