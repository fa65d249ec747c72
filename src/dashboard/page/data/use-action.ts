/** A mutation that notifies the person of its result and refreshes the queries it affects. */
import { Toast } from "@base-ui/react/toast";
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { adviceOn } from "./advice.ts";
import { isUnreachable } from "./connection.ts";

export interface ActionOptions<Result> {
  /** The notice after success; none when the page shows the result anyway. */
  readonly notice?: string | ((result: Result) => string);
  /** True when the request succeeded but its result is a failure, such as a failed delivery. */
  readonly isFailure?: (result: Result) => boolean;
  /** Prefixes of the query keys to refresh. */
  readonly invalidates?: readonly QueryKey[];
  /** True when a form shows the error itself. */
  readonly isForm?: boolean;
}

export function useAction<Result, Input = void>(
  act: (input: Input) => Promise<Result>,
  { notice, isFailure = () => false, invalidates = [], isForm = false }: ActionOptions<Result> = {},
) {
  const queries = useQueryClient();
  const notices = Toast.useToastManager();
  return useMutation({
    mutationFn: act,
    onSuccess: async (result) => {
      if (notice !== undefined) {
        const title = typeof notice === "string" ? notice : notice(result);
        notices.add({ title, ...(isFailure(result) && { type: "error" }) });
      }
      await Promise.all(invalidates.map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
    onError: (error) => {
      if (isForm || isUnreachable(error)) return;
      notices.add({ title: error.message, description: adviceOn(error), type: "error", priority: "high" });
    },
  });
}
