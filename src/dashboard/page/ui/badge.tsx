/** A status in one word; the color only repeats it. */
export interface BadgeProps {
  readonly tone: "good" | "bad" | "waiting" | "plain";
  readonly children: string;
}

export const Badge = ({ tone, children }: BadgeProps) => <span className={`badge ${tone}`}>{children}</span>;
