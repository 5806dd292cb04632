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
  %".15" = getelementptr ptr, ptr %".1", i64 2
  %".16" = load ptr, ptr %".15"
  %".17" = trunc i64 %".9" to i32
  %".18" = trunc i64 %".8" to i32
  %".19" = trunc i64 %".9" to i32
  %".20" = sext i32 %".19" to i64
  %".21" = mul i64 %".20", 20
  %".22" = getelementptr float, ptr %".12", i64 %".21"
  %".23" = trunc i64 %".9" to i32
  %".24" = sext i32 %".23" to i64
  %".25" = mul i64 %".24", 20
  %".26" = getelementptr float, ptr %".14", i64 %".25"
  %".27" = trunc i64 %".9" to i32
  %".28" = sext i32 %".27" to i64
  %".29" = mul i64 %".28", 20
  %".30" = getelementptr float, ptr %".16", i64 %".29"
  %".31" = getelementptr inbounds float, ptr %".22", i64 0
  %".32" = load <16 x float>, ptr %".31", align 4
  %".33" = getelementptr inbounds float, ptr %".26", i64 0
  %".34" = load <16 x float>, ptr %".33", align 4
  %".35" = fadd <16 x float> %".32", %".34"
  %".36" = getelementptr inbounds float, ptr %".30", i64 0
  store <16 x float> %".35", ptr %".36", align 4
  %".38" = getelementptr inbounds float, ptr %".22", i64 16
  %".39" = load <4 x float>, ptr %".38", align 4
  %".40" = getelementptr inbounds float, ptr %".26", i64 16
  %".41" = load <4 x float>, ptr %".40", align 4
  %".42" = fadd <4 x float> %".39", %".41"
  %".43" = getelementptr inbounds float, ptr %".30", i64 16
  store <4 x float> %".42", ptr %".43", align 4
  ret void
}
