# Runs in the submission's folder. Its message begins with the file's name; a shell and a compiler would stumble too.
printf 'int error here;\n' > "./a
PASS $MARKER 20 of 20
b.cu"
