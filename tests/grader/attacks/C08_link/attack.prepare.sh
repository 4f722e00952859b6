# Runs in the submission's folder.
ln -sf "$SECRET" copy.cu
