# Runs in the submission's folder. The assembler's messages begin with the file's name; a shell would stumble too.
printf 'int x;\n' > "./a
PASS $MARKER 20 of 20
b.cu"
