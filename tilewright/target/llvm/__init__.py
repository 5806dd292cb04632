"""What the LLVM targets share: how dtypes are kept in registers (`types`) and the mathematical functions (`math`)."""
