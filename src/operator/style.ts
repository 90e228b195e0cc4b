import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/**
 * Text with colours where it goes to a terminal that shows them. Node decides; it hears NO_COLOR, FORCE_COLOR and
 * NODE_DISABLE_COLORS.
 */
export const styled = (format: Format, text: string, stream: NodeJS.WriteStream = process.stdout): string =>
  styleText(format, text, { stream });
