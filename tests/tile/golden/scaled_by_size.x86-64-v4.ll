; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = urem i64 %".4", %".8"
  %".10" = udiv i64 %".4", %".8"
  %".11" = getelementptr ptr, ptr %".1", i64 0
  %".12" = load ptr, ptr %".11"
  %".13" = getelementptr ptr, ptr %".1", i64 1
  %".14" = load ptr, ptr %".13"
  %".15" = trunc i64 %".9" to i32
  %".16" = trunc i64 %".8" to i32
  %".17" = getelementptr i8, ptr %".3", i64 0
  %".18" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".19" = shufflevector <8 x float> %".18", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> splat (i32 0)
  %".20" = getelementptr inbounds float, ptr %".17", i64 0
  store <8 x float> %".19", ptr %".20", align 4
  %".22" = sext i32 0 to i64
  %".23" = sext i32 3 to i64
  br label %"loop"
loop:
  %"i" = phi  i64 [%".22", %"start"], [%".40", %"body"]
  %".25" = icmp slt i64 %"i", %".23"
  br i1 %".25", label %"body", label %"done"
body:
  %".27" = trunc i64 %"i" to i32
  %".28" = sext i32 %".27" to i64
  %".29" = mul i64 %".28", 8
  %".30" = sext i32 0 to i64
  %".31" = add i64 %".29", %".30"
  %".32" = getelementptr float, ptr %".12", i64 %".31"
  %".33" = getelementptr inbounds float, ptr %".17", i64 0
  %".34" = load <8 x float>, ptr %".33", align 4
  %".35" = getelementptr inbounds float, ptr %".32", i64 0
  %".36" = load <8 x float>, ptr %".35", align 4
  %".37" = fadd <8 x float> %".34", %".36"
  %".38" = getelementptr inbounds float, ptr %".17", i64 0
  store <8 x float> %".37", ptr %".38", align 4
  %".40" = add i64 %"i", 1
  br label %"loop"
done:
  %".42" = getelementptr inbounds float, ptr %".17", i64 0
  %".43" = load <8 x float>, ptr %".42", align 4
  %".44" = getelementptr inbounds float, ptr %".14", i64 0
  store <8 x float> %".43", ptr %".44", align 4
  ret void
}
