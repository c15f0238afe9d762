// Writes a .br and a .gz beside each built style and script: the portal sends these as they are.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';

for (const folder of ['static/build', 'static/vendor']) {
    for (const name of readdirSync(folder).filter((it) => /\.(css|js)$/.test(it))) {
        const path = `${folder}/${name}`;
        const content = readFileSync(path);
        writeFileSync(`${path}.br`, brotliCompressSync(content));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
    }
}
