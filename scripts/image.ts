/** `npm run image`: builds the runtime's image as an archive and prints its name and file, with a tab between them. */
import { localImages } from "../provider/local-cluster/local-images";

localImages((line) => console.error(line)).then(
  ({ runtime }) => console.log(`${runtime.name}\t${runtime.file}`),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
