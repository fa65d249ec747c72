/** The first letter of a name as a picture: the style sheet draws it, so that the text that one sees is the name alone. */
interface MonogramProps {
  readonly name: string;
  readonly isRound?: boolean;
}

export const Monogram = ({ name, isRound = false }: MonogramProps) => (
  <span
    className={isRound ? "monogram round" : "monogram"}
    data-letter={[...name][0]?.toUpperCase()}
    aria-hidden="true"
  />
);
